"""What an authoring does next, from the events that it has written."""

from __future__ import annotations

from typing import Any

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run.moves import (
    Ask,
    Attempt,
    Draft,
    End,
    File,
    Judge,
    Move,
    Start,
    until_answered,
)
from asbuilt.lifecycle.status.run_state import progress, waits_for
from tests.support.happened import happened

NOW = "2026-11-15T12:00:00.000Z"
LATER = "2026-11-15T13:00:00.000Z"
Told = tuple[str, dict[str, Any]]
STARTED: Told = (
    "run.started",
    {"base": "b", "ring": "bwrap", "due": "draft", "phases": {"draft": ()}, "titles": {"draft": "Write"}},
)
KEY = "plan/i1/1/r"


def begun(stage: str = "draft", number: int = 1) -> Told:
    return "attempt.begun", {"phase": stage, "number": number, "role": "plan"}


def ended(stage: str = "draft", number: int = 1, ending: str = "done", **more: object) -> Told:
    return "attempt.ended", {"phase": stage, "number": number, "ending": ending, "starts": 1, **more}


def judged(outcome: str, stage: str = "draft", number: int = 1, **more: object) -> Told:
    told = {"stage": stage.partition("-")[0], "round": 1, "text": "t", "flaws": "f", "why": "x", **more}
    return "stage.judged", {"phase": stage, "number": number, "outcome": outcome, **told}


def written(number: int = 1, by: str = "agent") -> Told:
    intent = {"intent": f"i{number}", "digest": f"d{number}", "text": f"b{number}"}
    return "draft.written", {"number": number, "by": by, "label": "", **intent}


def asked(key: str = KEY, number: int = 1) -> Told:
    return "approval.asked", {"key": key, "number": number, "kind": "plan"}


def answered(answer: str, note: str = "", key: str = KEY, number: int = 1) -> Told:
    return "approval.answered", {"key": key, "number": number, "answer": answer, "note": note}


APPROVED: Told = (
    "plan.approved",
    {"intent": "i1", "digest": "d1", "text": "b1", "by": "you", "edited": False},
)
STALLED = tuple(
    one
    for number in (1, 2, 3)
    for one in (begun(number=number), ended(number=number, ending="stalled", reason="silent"))
)
TURN = (STARTED, begun(), ended(output="o"))
PUT = (*TURN, judged("accepted", finished="completed"), written())


def after(*events: Told, stop: str | None = None) -> Move:
    entries = happened((kind, {"run": "r", **data}) for kind, data in events)
    facts = fold("r", RunOptions(kind="author", slug="greet"), entries)
    facts.stop = stop
    move = next_move(facts, NOW)
    # Whatever comes next can be shown.
    progress(facts, NOW)
    waits_for(facts, NOW)
    return move


@pytest.mark.parametrize(
    ("events", "move"),
    [
        pytest.param((), Start(), id="nothing has happened"),
        pytest.param((STARTED,), Attempt("draft", 1, "plan"), id="it has started"),
        pytest.param((STARTED, begun()), Attempt("draft", 1, "plan"), id="an agent is at work"),
        pytest.param(TURN, Judge("draft", 1), id="an output is there"),
        pytest.param((*TURN, judged("refused")), Attempt("draft", 2, "plan"), id="it was refused"),
        pytest.param((*TURN, judged("proposed", proposals="p")), Attempt("draft", 2, "plan"), id="proposals"),
        pytest.param(
            (*TURN, judged("gave_up", about=("steps", "plan"))),
            End("failed", "draft was given up after 1 refused answer; the last has flaws in: steps, plan"),
            id="it was refused too often",
        ),
        pytest.param(
            (*TURN, judged("accepted", due="critique-1")),
            Attempt("critique-1", 1, "critique"),
            id="next stage",
        ),
        pytest.param((*TURN, judged("accepted", finished="completed")), Draft(), id="the stages are through"),
        pytest.param(
            PUT, Ask(KEY, "plan", "approve the plan greet? revision 1", intent="i1"), id="a draft is written"
        ),
        pytest.param((*PUT, asked()), until_answered("a1"), id="somebody is asked"),
        pytest.param((*PUT, asked(), answered("yes"), APPROVED), File(), id="it is approved"),
        pytest.param((*PUT, asked(), answered("yes", "nice"), APPROVED), File(), id="with a remark"),
        pytest.param(
            (*PUT, asked(), answered("no", "shorter")), Attempt("revise-1", 1, "plan"), id="it is sent back"
        ),
        pytest.param(
            (STARTED, begun(), ended(ending="limited")),
            Attempt("draft", 1, "plan"),
            id="a usage limit that is over",
        ),
        pytest.param(
            (STARTED, begun(), ended(ending="crashed")), Attempt("draft", 2, "plan"), id="an agent crashed"
        ),
        pytest.param(
            (STARTED, *STALLED),
            End("failed", "draft: no agent submitted anything in 3 tries; silent"),
            id="three agents stalled",
        ),
    ],
)
def test_the_next_move_follows_from_what_was_written_down(events: tuple[Told, ...], move: Move) -> None:
    assert after(*events) == move


def test_a_batch_of_questions_is_asked_whole_before_anybody_is_waited_for() -> None:
    batch = [("question/r/1/1", "Which?\na  this"), ("question/r/1/2", "What?\na  that")]
    events = [*TURN, judged("asks", asks=batch)]
    for number, (key, words) in enumerate(batch, 1):
        assert after(*events) == Ask(key, "question", words)
        events.append(("approval.asked", {"key": key, "number": number, "kind": "question"}))
    assert after(*events) == until_answered("question/r/1/1")
    events.append(answered("yes", "a", batch[1][0], 2))
    assert after(*events) == until_answered("question/r/1/1")
    events.append(answered("no", "", batch[0][0], 1))
    assert after(*events) == Attempt("draft", 2, "plan")


def test_a_stop_ends_the_agent_at_work_first_and_then_the_authoring() -> None:
    assert after(STARTED, begun(), stop="enough") == Attempt("draft", 1, "plan")
    assert after(STARTED, begun(), ended(ending="cancelled"), stop="enough") == End("stopped", "enough")
    assert after(*PUT, asked(), stop="enough") == End("stopped", "enough")


def test_an_edit_of_a_person_is_asked_about_in_its_own_right() -> None:
    edited = (*PUT, asked(), written(2, by="you"), answered("revised", "revision 2 took its place"))
    assert after(*edited) == Ask("plan/i2/2/r", "plan", "approve the plan greet? revision 2", intent="i2")
