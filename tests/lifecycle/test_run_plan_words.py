from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.lifecycle.run_plan_words import (
    EveryWords,
    Landing,
    NextWords,
    NowWords,
    RunWords,
    StatusWords,
    StopWords,
    Unclear,
    Word,
    parse,
)

if TYPE_CHECKING:
    from random import Random

    from asbuilt.lifecycle.run_plan_words import Words

F = "plans/F.md"
PLANS = frozenset(
    {
        F,
        "plans/stop auto.md",
        "plans/stop.md",
        "plans/F.md status",
        "stop",
        "rate-limit",
        "day",
        "my next plan.md",
    }
)
EXAMPLES: list[tuple[str, Words]] = [
    ("plans/F.md", RunWords(plan=F)),
    ("plans/F.md 4b", RunWords(plan=F, phase="4b")),
    ("plans/F.md finish", RunWords(plan=F, finish=True)),
    ("plans/F.md finish auto", RunWords(plan=F, finish=True, auto=True)),
    ("plans/F.md auto every 4h", EveryWords(plan=F, schedule="4h")),
    ("plans/F.md auto every 4h now", EveryWords(plan=F, schedule="4h", now=True)),
    ("plans/F.md finish auto pr", RunWords(plan=F, finish=True, auto=True, landing=Landing.PR)),
    ("plans/F.md direct", RunWords(plan=F, landing=Landing.DIRECT)),
    ("plans/F.md status", StatusWords(plan=F)),
    ("now", NowWords()),
    ("stop", StopWords()),
    ("next", NextWords()),
]
"""The lines that must be understood as they stand."""


def is_plan(name: str) -> bool:
    return name in PLANS - {"plans/F.md status"}


def render(words: Words) -> str:
    """Say parsed words in their usual order."""
    match words:
        case RunWords():
            flags = [Word.FINISH.value] * words.finish + [Word.AUTO.value] * words.auto
            parts = [words.plan, words.phase, *flags, words.landing]
        case EveryWords():
            parts = [
                words.plan,
                Word.AUTO,
                Word.EVERY,
                words.schedule,
                *[Word.NOW] * words.now,
                words.landing,
            ]
        case StopWords():
            parts = [words.plan, Word.STOP]
        case NextWords():
            parts = [words.plan, Word.NEXT]
        case StatusWords():
            parts = [words.plan, Word.STATUS]
        case NowWords():
            parts = [words.plan, Word.NOW]
        case _:
            assert_never(words)
    return " ".join(part for part in parts if part)


def read(text: str) -> Words | Unclear:
    return parse(text, is_plan)


@pytest.mark.parametrize(("text", "words"), EXAMPLES, ids=[text for text, _ in EXAMPLES])
def test_a_line_of_the_source_is_understood_as_it_stands(text: str, words: Words) -> None:
    assert read(text) == words
    assert read(text.upper().replace("PLANS/F.MD", F).replace("4B", "4b").replace("4H", "4h")) == words


def test_finish_and_every_are_refused_together() -> None:
    assert read("plans/F.md finish every 4h") == snapshot(
        Unclear(
            what="finish and every cannot be combined",
            why="finish runs all phases that are left at once; every runs the next one each time.",
            understood="plan plans/F.md, finish, every 4h",
        )
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plans/stop auto.md", RunWords(plan="plans/stop auto.md")),
        ('"plans/stop auto.md" finish', RunWords(plan="plans/stop auto.md", finish=True)),
        ("plans/stop auto.md stop", StopWords(plan="plans/stop auto.md")),
        ("finish plans/stop auto.md auto", RunWords(plan="plans/stop auto.md", finish=True, auto=True)),
        ("plans/stop.md auto", RunWords(plan="plans/stop.md", auto=True)),
        ("my next plan.md 2", RunWords(plan="my next plan.md", phase="2")),
        ("rate-limit auto every day at 9am", EveryWords(plan="rate-limit", schedule="day at 9am")),
        ("auto every 4h rate-limit", EveryWords(plan="rate-limit", schedule="4h")),
        ("stop rate-limit", StopWords(plan="rate-limit")),
        ("plans/gone.md finish", RunWords(plan="plans/gone.md", finish=True)),
        ("stop gone", StopWords(plan="gone")),
        ("stop 4b", StopWords(plan="4b")),
        ("rate-limit 4b", RunWords(plan="rate-limit", phase="4b")),
    ],
)
def test_a_plan_is_found_before_any_word_is(text: str, words: Words) -> None:
    assert read(text) == words


def test_the_longest_path_that_is_a_plan_is_the_one() -> None:
    assert parse("plans/F.md status", PLANS.__contains__) == RunWords(plan="plans/F.md status")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plans/F.md status next stop", StopWords(plan=F)),
        ("plans/F.md next status", NextWords(plan=F)),
        ("plans/F.md finish every 4h stop", StopWords(plan=F)),
        ("plans/F.md finish auto status", StatusWords(plan=F)),
        ("plans/F.md now", NowWords(plan=F)),
        ("plans/F.md auto now", RunWords(plan=F, auto=True)),
        ("stop", StopWords()),
    ],
)
def test_stop_outranks_next_and_next_outranks_status_and_status_the_rest(text: str, words: Words) -> None:
    assert read(text) == words


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("plans/F.md every day at 14:00 now", "day at 14:00"),
        ("every weekday at 9am plans/F.md", "weekday at 9am"),
        ("plans/F.md every monday,thursday at 18:30 auto", "monday,thursday at 18:30"),
        ("plans/F.md every 3 9 * * 1-5 pr", "3 9 * * 1-5"),
    ],
)
def test_a_time_goes_on_until_the_next_word(text: str, times: str) -> None:
    words = read(text)
    assert isinstance(words, EveryWords)
    assert words.schedule == times


def test_what_is_not_understood_is_refused_with_what_was() -> None:
    texts = (
        "", "finish", "plans/F.md finsh auto", "plans/F.md 2 3", "plans/F.md pr direct", "plans/F.md every",
        "plans/F.md 4b every 4h", "plans/F.md every 4h every 2h", "plans/F.md --finish", "auto x y",
    )  # fmt: skip
    assert [tuple(said) for said in map(read, texts) if isinstance(said, Unclear)] == snapshot(
        [
            ("no plan is named", "The command is empty.", "no plan"),
            ("no plan is named", "asbuilt runs only a plan that you name.", "no plan, finish"),
            (
                '"finsh" means nothing here',
                "asbuilt does not guess.",
                "plan plans/F.md, auto",
            ),
            ("phase is there 2 times: 2, 3", "Give it once.", "plan plans/F.md, phase 2, phase 3"),
            ("pr and direct cannot be combined", "A plan lands one way.", "plan plans/F.md, pr, direct"),
            (
                "every has no time",
                "Add a time: 4h, day at 9am.",
                "plan plans/F.md, every",
            ),
            (
                "every cannot be combined with phase 4b",
                "Each time, the next phase that is left is run.",
                "plan plans/F.md, phase 4b, every 4h",
            ),
            (
                "every is there 2 times: 4h, 2h",
                "Give it once.",
                "plan plans/F.md, every 4h, every 2h",
            ),
            ('"--finish" means nothing here', "asbuilt does not guess.", "plan plans/F.md"),
            ('"y" means nothing here', "asbuilt does not guess.", "plan x, auto"),
        ]
    )


WORDS = st.builds(
    RunWords,
    plan=st.sampled_from([F, "plans/stop auto.md", "rate-limit"]),
    phase=st.sampled_from([None, "1", "4b", "2.1", "T12"]),
    finish=st.booleans(),
    auto=st.booleans(),
    landing=st.sampled_from([None, *Landing]),
)
TIMES = st.sampled_from(
    ["4h", "30m", "day at 9am", "weekday at 9am", "monday,thursday at 18:30", "*/5 * * * *"]
)
EVERYTHING = (
    WORDS
    | st.builds(
        EveryWords,
        plan=st.sampled_from([F, "plans/stop auto.md"]),
        schedule=TIMES,
        now=st.booleans(),
        landing=st.sampled_from([None, *Landing]),
    )
    | st.one_of(
        *(
            st.builds(kind, plan=st.sampled_from([None, F, "plans/stop auto.md", "rate-limit"]))
            for kind in (StopWords, NextWords, StatusWords, NowWords)
        )
    )
)


@given(EVERYTHING)
def test_words_that_are_said_are_understood_as_they_were_meant(words: Words) -> None:
    assert read(render(words)) == words


@given(
    chosen=st.sets(st.sampled_from(["finish", "auto", "direct", "now", "2", "every 4h"]), max_size=4),
    random=st.randoms(use_true_random=False),
    upper=st.booleans(),
)
def test_the_order_of_words_changes_nothing(chosen: set[str], random: Random, *, upper: bool) -> None:
    parts = sorted(chosen)
    told = read(" ".join([F, *parts]))
    random.shuffle(parts)
    parts.insert(random.randrange(len(parts) + 1), F)
    if upper:
        parts = [part if part == F else part.upper().replace("4H", "4h") for part in parts]
    again = read(" ".join(parts))
    assert again == told or (isinstance(again, Unclear) and isinstance(told, Unclear))


@given(
    st.lists(
        st.sampled_from([*(word.value for word in Word), F, "'", '"', "4b", "day", "stop", "x", "-"])
        | st.text(max_size=9),
        max_size=9,
    )
)
def test_no_text_is_too_odd_to_be_read_or_refused(parts: list[str]) -> None:
    said = read(" ".join(parts))
    assert isinstance(said, Unclear) or read(render(said)) == said
