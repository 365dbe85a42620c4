"""What a yes covers, and what becomes of a draft, over every order in which people and agents can act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.approval import (
    AGENT,
    EDITED,
    REVISED,
    Approved,
    Ask,
    Await,
    Drafts,
    File,
    GiveUp,
    Question,
    Revision,
    Rewrite,
    fold_drafts,
    is_edited,
    key_of,
    may_answer,
    needs_approval,
    next_step,
    unchanged,
)
from tests.support.happened import happened

if TYPE_CHECKING:
    from collections.abc import Sequence

Events = list[tuple[str, dict[str, Any]]]


def revision(number: int, intent: str, by: str = AGENT, run: str = "r1") -> Revision:
    label = "" if by == AGENT else EDITED
    return Revision(run, number, intent, f"bytes of {intent}", f"blob of {intent}", by, label)


def written(one: Revision) -> tuple[str, dict[str, Any]]:
    return "draft.written", one._asdict()


def asked(number: int, one: Revision, *, again: bool = False) -> tuple[str, dict[str, Any]]:
    data = {"number": number, "key": key_of(one, again=again), "run": one.run, "kind": "plan"}
    return "approval.asked", {**data, "phase": None, "question": "approve it?"}


def answered(number: int, answer: str, note: str = "") -> tuple[str, dict[str, Any]]:
    return "approval.answered", {"number": number, "key": "", "run": "r1", "answer": answer, "note": note}


def approved(one: Revision, *, edited: bool = False, by: str = "ada") -> tuple[str, dict[str, Any]]:
    return "plan.approved", Approved(one.run, one.intent, one.digest, one.text, by, edited)._asdict()


ONE, TWO = revision(1, "i1"), revision(2, "i2", by="ada")
NO = [written(ONE), asked(1, ONE), answered(1, "no")]


@pytest.mark.parametrize(
    ("events", "step"),
    [
        ([], None),
        ([written(ONE)], Ask(ONE)),
        ([written(ONE), asked(1, ONE)], Await(Question("a1", "r1", "i1", 1, is_again=False))),
        (
            [written(ONE), asked(1, ONE), answered(1, "yes"), approved(ONE)],
            File(Approved("r1", "i1", "bytes of i1", "blob of i1", "ada", edited=False)),
        ),
        (
            [written(ONE), asked(1, ONE), answered(1, "no", "smaller")],
            Rewrite(Question("a1", "r1", "i1", 1, is_again=False, answer="no", note="smaller")),
        ),
        (NO, Ask(ONE, again=True)),
        (
            [*NO, asked(2, ONE, again=True), answered(2, "no")],
            GiveUp(Question("a2", "r1", "i1", 1, is_again=True, answer="no")),
        ),
        (
            [*NO, asked(2, ONE, again=True), answered(2, "no", "smaller")],
            Rewrite(Question("a2", "r1", "i1", 1, is_again=True, answer="no", note="smaller")),
        ),
        ([written(ONE), asked(1, ONE), answered(1, REVISED, "by 2"), written(TWO)], Ask(TWO)),
    ],
)
def test_what_becomes_of_a_draft_follows_from_what_was_said_to_its_newest_text(
    events: Events, step: object
) -> None:
    assert next_step(fold_drafts(happened(events))) == step


def test_a_yes_to_a_text_says_nothing_of_the_same_text_when_it_is_declined_later() -> None:
    back = revision(3, "i1", by="ada")
    events = [written(ONE), asked(1, ONE), answered(1, "yes"), approved(ONE), written(TWO), written(back)]
    assert next_step(
        fold_drafts(happened([*events, asked(2, back), answered(2, "no", "not now")]))
    ) == Rewrite(Question("a2", "r1", "i1", 3, is_again=False, answer="no", note="not now"))


def test_an_approved_text_is_labelled_when_it_is_not_what_the_agent_handed_in() -> None:
    drafts = Drafts(revisions=(ONE, TWO, revision(3, "i1", by="ada")))
    assert [is_edited(drafts, one) for one in drafts.revisions] == [False, True, False]
    assert [Approved("r", "i", "d", "t", "ada", edited).heading for edited in (False, True)] == [
        "Approved Plan",
        "Approved Plan (edited by user)",
    ]


def test_a_number_put_right_at_landing_carries_the_approval_and_its_name() -> None:
    carried = {"run": "r2", "of": "i1", "intent": "i1'", "digest": "d'", "text": "t'"}
    drafts = fold_drafts(happened([approved(ONE), ("plan.carried", carried)]))
    assert drafts.covering("i1'") == Approved("r1", "i1'", "d'", "t'", "ada", edited=False)
    assert fold_drafts(happened([("plan.carried", carried)])) == Drafts()


@pytest.mark.parametrize(
    ("names", "actor", "may"),
    [
        ((), "anybody", True),
        (("ada", "bob"), "bob", True),
        (("ada",), "adam", False),
        (("team-*",), "team-shop", True),
        (("team-*",), "TEAM-shop", False),
    ],
)
def test_who_may_answer_is_who_is_named(names: Sequence[str], actor: str, *, may: bool) -> None:
    assert may_answer(names, actor) is may


said = st.sampled_from([("yes", ""), ("no", ""), ("no", "  "), ("no", "smaller"), (REVISED, "")])
"""What a person does with a question; `revised` is an edit of theirs."""
intents = st.sampled_from(["i1", "i2", "i3"])


class Course:
    """An authoring that follows its steps; its agent writes and its people say whatever they like."""

    def __init__(self, texts: Sequence[str], answers: Sequence[tuple[str, str]]) -> None:
        self.texts, self.answers = list(texts), list(answers)
        self.events: Events = []
        self.keys: list[str] = []
        self.refused: list[str] = []

    @property
    def drafts(self) -> Drafts:
        return fold_drafts(happened(self.events))

    def write(self, by: str) -> bool:
        """Hand in the next text; one that was declined is refused, and the agent tries the next."""
        while self.texts:
            intent = self.texts.pop(0)
            if by == AGENT and unchanged(self.drafts, intent):
                self.refused.append(intent)
                continue
            self.events.append(written(revision(len(self.drafts.revisions) + 1, intent, by)))
            return True
        return False

    def go(self) -> object:
        """Follow the steps to the end, or until nobody has anything to say; return the last step."""
        for _ in range(100):
            step = next_step(self.drafts)
            match step:
                case None | Rewrite():
                    if not self.write(AGENT):
                        return step
                case Ask(one, again):
                    self.keys.append(key_of(one, again=again))
                    self.events.append(asked(len(self.keys), one, again=again))
                case Await():
                    if not self.answers:
                        return step
                    self.answer(*self.answers.pop(0))
                case _:
                    return step
        raise AssertionError("it goes on for ever")

    def answer(self, word: str, note: str) -> None:
        newest = self.drafts.newest
        assert newest is not None
        if word == REVISED and not self.texts:
            return
        self.events.append(answered(len(self.keys), word, note))
        if word == "yes":
            self.events.append(approved(newest))
        if word == REVISED:
            self.write("ada")


courses = st.builds(Course, st.lists(intents, max_size=8), st.lists(said, max_size=12))


@given(courses)
def test_nothing_is_asked_twice_and_a_bare_no_is_asked_about_once(course: Course) -> None:
    course.go()
    assert len(set(course.keys)) == len(course.keys)
    assert sum(one.is_again for one in course.drafts.questions) <= 1


@given(courses)
def test_what_is_filed_is_the_newest_text_and_a_person_said_yes_to_just_it(course: Course) -> None:
    last = course.go()
    drafts = course.drafts
    assert isinstance(last, File) == any(one.answer == "yes" for one in drafts.questions)
    if isinstance(last, File):
        assert drafts.newest is not None
        assert (last.approved.intent, last.approved.text) == (drafts.newest.intent, drafts.newest.text)


@given(courses)
def test_silence_waits_and_never_ends_anything(course: Course) -> None:
    last = course.go()
    waits = [one.name for one in course.drafts.questions if one.answer is None]
    assert waits == ([last.question.name] if isinstance(last, Await) else [])
    if isinstance(last, GiveUp):
        assert last.question.is_again or any(one.is_again for one in course.drafts.questions)


@given(courses)
def test_an_agent_never_hands_in_what_was_declined(course: Course) -> None:
    course.go()
    texts: dict[str, str] = {}
    declined: set[str] = set()
    for kind, data in course.events:
        if kind == "draft.written":
            assert data["by"] != AGENT or data["intent"] not in declined
            texts["newest"] = data["intent"]
        if kind == "approval.answered" and data["answer"] == "no":
            declined.add(texts["newest"])


@given(courses, intents)
def test_a_run_of_an_approved_plan_needs_a_yes_to_the_intent_it_has(course: Course, intent: str) -> None:
    course.go()
    yes = {one.intent for one in course.drafts.questions if one.answer == "yes"}
    assert needs_approval(course.drafts, intent) is (bool(yes) and intent not in yes)


OTHERS: dict[str, dict[str, Any]] = {
    "run.started": {"base": "b"},
    "phase.proven": {"phase": "1", "commit": "c"},
    "no.such": {},
}


@given(courses, st.lists(st.sampled_from(list(OTHERS)), max_size=5))
def test_other_events_say_nothing_of_drafts(course: Course, kinds: list[str]) -> None:
    course.go()
    others: Events = [(kind, {"run": "r1", **OTHERS[kind]}) for kind in kinds]
    strange = happened(others, unknown=True)
    assert fold_drafts([*strange, *happened(course.events), *strange]) == course.drafts
