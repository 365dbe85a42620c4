"""Words that a user types are the answer that they state, or none."""

from __future__ import annotations

from typing import assert_never

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.authoring.questions import answer_to, recorded
from asbuilt.lifecycle.replies import (
    Answered,
    Chosen,
    InOwnWords,
    Later,
    No,
    Reply,
    Unclear,
    Yes,
    reply_in,
)

OPTIONS = {"a": "API key; every route has one", "b": "client address"}
QUESTION = "Count requests per what?\n(app.py knows both)\na  API key; every route has one\nb  client address"
YES_OR_NO: list[tuple[str, Reply]] = [
    ("y", Yes()),
    ("Y", Yes()),
    ("yes", Yes()),
    (" YES! ", Yes()),
    ("ok", Yes()),
    ("Okay.", Yes()),
    ("approve", Yes()),
    ("'yes'", Yes()),
    ("\u201cyes\u201d", Yes()),
    ("yes, the importer goes next year", Yes("the importer goes next year")),
    ("yes: it only tested v1", Yes("it only tested v1")),
    ("ok - the \u201cold\u201d one", Yes("the \u201cold\u201d one")),
    ("yes land it", Yes("land it")),
    ("n", No()),
    ("no", No()),
    ("NO", No()),
    ("No.", No()),
    ("no!!!", No()),
    ("(no)", No()),
    ("nope", No()),
    ("no thanks", No()),
    ("absolutely not", No()),
    ("no, bring the test back", No("bring the test back")),
    ("No: too big", No("too big")),
    ("no - bring it back", No("bring it back")),
    ("no \u2014 bring it back", No("bring it back")),
    ("\u201cno\u201d, keep it", No("keep it")),
    ("\u200bno, keep it", No("keep it")),
    ("n, not before the release", No("not before the release")),
    ("no\nbring it back", Unclear("refusal")),
    ("reject: too big", No("too big")),
    ("decline this", No("this")),
    ("don't", No()),
    ("stop", No()),
    ("stop, too early", No("too early")),
    ("later", Later()),
    ("l", Later()),
    ("Not yet.", Later()),
    ("wait", Later()),
    ("no bring the test back", Unclear("refusal")),
    ("no problem, go ahead", Unclear("refusal")),
    ("no, yes please", Unclear("refusal")),
    ("don\u2019t land it", Unclear("refusal")),
    ("do not land it", Unclear("refusal")),
    ("not before the release", Unclear("refusal")),
    ("wait, what changed?", Unclear("refusal")),
    ("yes, but keep the old test", Unclear("condition")),
    ("Yes but", Unclear("condition")),
    ("ok, if CI is green", Unclear("condition")),
    ("yes, after the release", Unclear("condition")),
    ("yes and no", Unclear("condition")),
    ("ok no", Unclear("condition")),
    ("yes, please don\u2019t land it", Unclear("condition")),
    ("ok, what does it do?", Unclear("question")),
    ("yes?", Unclear("question")),
    ("no?", Unclear("question")),
    ("?", Unclear("question")),
    ("y/n", Unclear("other")),
    ("n/a", Unclear("other")),
    ("looks good", Unclear("other")),
    ("bring the test back", Unclear("other")),
    ("", Unclear("empty")),
    (" ... ", Unclear("empty")),
]
WITH_OPTIONS: list[tuple[str, Reply]] = [
    ("a", Chosen("a")),
    ("B", Chosen("b")),
    ("b)", Chosen("b")),
    ("(b)", Chosen("b")),
    ("b.", Chosen("b")),
    ("\u201cb\u201d", Chosen("b")),
    ("option b", Chosen("b")),
    ("b, it is simple", Chosen("b", "it is simple")),
    ("b) it is simple", Chosen("b", "it is simple")),
    ("api KEY", Chosen("a")),
    ("API key; every route has one", Chosen("a")),
    ("Client  address.", Chosen("b")),
    ("both", InOwnWords("both")),
    ("a counter per key", InOwnWords("a counter per key")),
    ("a, b", InOwnWords("a, b")),
    ("b, not a", InOwnWords("b, not a")),
    ("yes, per key", InOwnWords("yes, per key")),
    ("y", Yes()),
    ("ok", Yes()),
    ("n", No()),
    ("no, per tenant", No("per tenant")),
    ("no counter at all", No("no counter at all")),
    ("never", No("never")),
    ("not b", No("not b")),
    ("later", Later()),
    ("z", Unclear("letter")),
    ("z)", Unclear("letter")),
    ("", Unclear("empty")),
]
REFUSALS = (
    *("n", "no", "nope", "nah", "not", "never", "don't", "don\u2019t", "dont", "do not", "reject", "decline"),
    *("deny", "refuse", "stop", "cancel", "abort", "wait", "hold", "can't", "won't"),
)
OPENINGS = st.sampled_from(("", " ", "\t", '"', "'", "(", "[", "\u201c", "\u2018", "\u200b", "\ufeff"))
BEHIND = st.sampled_from(
    ("", " ", ",", ", ", ": ", "; ", ".", "!", "?", " - ", "-", "\u2014", "\n", ")", '"')
)
AFTER = st.one_of(
    st.text(max_size=40),
    st.sampled_from(("yes", "y", "ok", "a", "b)", "API key", "approve it", "problem")),
)
EMPHASIS = st.sampled_from((str, str.upper, str.capitalize))


@pytest.mark.parametrize(("typed", "reply"), YES_OR_NO)
def test_words_are_a_yes_a_no_or_unclear(typed: str, reply: Reply) -> None:
    assert reply_in(typed) == reply


@pytest.mark.parametrize(("typed", "reply"), WITH_OPTIONS)
def test_words_are_an_option_or_an_answer_of_its_own(typed: str, reply: Reply) -> None:
    assert reply_in(typed, OPTIONS) == reply


@given(
    opening=OPENINGS,
    refusal=st.sampled_from(REFUSALS),
    emphasis=EMPHASIS,
    behind=BEHIND,
    after=AFTER,
    options=st.sampled_from((None, OPTIONS)),
)
def test_words_that_start_with_a_refusal_are_never_a_yes(
    opening: str, refusal: str, emphasis: type[str], behind: str, after: str, options: dict[str, str] | None
) -> None:
    # Without anything between them, what follows would belong to the word.
    typed = f"{opening}{emphasis(refusal)}{behind}{after if behind.strip() != '-' else ''}"
    reply = reply_in(typed if behind else f"{opening}{emphasis(refusal)}", options)
    assert isinstance(reply, No | Later | Unclear)


@given(st.text(max_size=60), st.sampled_from((None, OPTIONS)))
def test_any_text_is_read_and_only_a_word_of_approval_makes_a_yes(
    typed: str, options: dict[str, str] | None
) -> None:
    reply = reply_in(typed, options)
    if isinstance(reply, Yes):
        assert (
            typed.casefold().translate(dict.fromkeys(map(ord, "\u200b\ufeff"))).strip(" \t\n\"'([")[:1]
            in "yoa"
        )
    assert not isinstance(reply, Chosen) or (options is not None and reply.option in options)


@given(st.one_of(st.text(max_size=60), st.sampled_from([typed for typed, _ in WITH_OPTIONS])))
def test_what_the_journal_stores_gives_the_author_the_same_answer(typed: str) -> None:
    reply = reply_in(typed, OPTIONS)
    if isinstance(reply, Later | Unclear):
        return
    answer, note = recorded(reply)
    assert answer_to(QUESTION, answer, note or "") == f"Count requests per what?\n{_decision(reply)}"


def _decision(reply: Answered) -> str:
    match reply:
        case Chosen(option, note):
            return OPTIONS[option] + (f" ({note})" if note else "")
        case InOwnWords(text):
            return text
        case Yes():
            return OPTIONS["a"]
        case No(""):
            return "Leave it open: name it under Open Questions."
        case No(note):
            return f"The user says no: {note}\nName under Open Questions what stays open."
        case _:
            assert_never(reply)
