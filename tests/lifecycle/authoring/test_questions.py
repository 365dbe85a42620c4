from __future__ import annotations

import json

import pytest

from asbuilt.lifecycle.authoring.questions import (
    EXAMPLE,
    Question,
    answer_to,
    asking,
    options_of,
    questions_in,
)
from asbuilt.lifecycle.flaws import Flaw

ASKED = (
    "Count requests per what?\n(src/api/app.py knows both and prefers none)\n"
    "a  API key; every route has one\nb  client address"
)


def test_what_we_show_as_an_example_is_what_we_read() -> None:
    (read,) = questions_in(EXAMPLE, most=2) or ()
    assert isinstance(read, Question)
    assert read.words == ASKED
    assert EXAMPLE in asking(2)


@pytest.mark.parametrize("output", ["# A plan\n", "[]", '{"verdicts": []}', "{", "[" * 100_000])
def test_an_output_that_is_no_list_of_questions_asks_nothing(output: str) -> None:
    assert questions_in(output, most=2) is None


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"options": ["one"]}, "a question that is not whole"),
        ({"options": ["one", "ONE"]}, "a question that is not whole"),
        ({"why": ""}, "a question that is not whole"),
        ({"ask": 7}, "a question that is not whole"),
        ({"ask": "x" * 301}, "a question that is not whole"),
        ({"ask": "Count the requests per what?"}, '"Count the requests per what?" was asked before'),
    ],
)
def test_a_question_without_a_way_to_answer_or_asked_before_is_refused(
    change: dict[str, object], found: str
) -> None:
    whole = {"ask": "Which store?", "options": ["Redis", "a table"], "why": "src/app.py has neither"}
    flaws = questions_in(json.dumps({"questions": [{**whole, **change}]}), most=2, before=[ASKED])
    assert [flaw.found for flaw in flaws or () if isinstance(flaw, Flaw)] == [found]


@pytest.mark.parametrize(("many", "most"), [(3, 2), (0, 2), (1, 0)])
def test_too_many_questions_none_and_any_where_nobody_is_asked_are_refused(many: int, most: int) -> None:
    listed = [
        {"ask": f"Which {name}?", "options": ["this", "that"], "why": "the code has none"}
        for name in ("store", "colour", "planet")[:many]
    ]
    flaws = questions_in(json.dumps({"questions": listed}), most=most)
    assert [type(flaw) for flaw in flaws or ()] == [Flaw]


@pytest.mark.parametrize(
    ("answer", "note", "said"),
    [
        ("yes", "b", "client address"),
        ("yes", " A ", "API key; every route has one"),
        ("yes", "", "API key; every route has one"),
        ("yes", "per tenant", "per tenant"),
        ("no", "", "Leave it open: name it under Open Questions."),
        ("no", "ask Bo", "The user says no: ask Bo\nName under Open Questions what stays open."),
    ],
)
def test_a_letter_own_words_and_silence_are_answers(answer: str, note: str, said: str) -> None:
    assert answer_to(ASKED, answer, note) == f"Count requests per what?\n{said}"


def test_what_an_earlier_version_asked_is_answered_as_it_was_put() -> None:
    """It said nothing of what did not tell."""
    asked = ASKED.replace("(src/api/app.py knows both and prefers none)\n", "")
    assert asked != ASKED
    assert (
        options_of(asked) == options_of(ASKED) == {"a": "API key; every route has one", "b": "client address"}
    )
