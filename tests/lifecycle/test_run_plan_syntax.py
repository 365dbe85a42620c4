from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.lifecycle.run_plan_syntax import Unclear, Word, parse

if TYPE_CHECKING:
    from random import Random

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
EXAMPLES = [
    ("plans/F.md", "run plans/F.md"),
    ("plans/F.md 4b", "run plans/F.md 4b"),
    ("plans/F.md finish", "run plans/F.md --finish"),
    ("plans/F.md finish auto", "run plans/F.md --finish --auto"),
    ("plans/F.md auto every 4h", "run plans/F.md --auto --every 4h"),
    ("plans/F.md auto every 4h now", "run plans/F.md --auto --every 4h --now"),
    ("plans/F.md finish auto pr", "run plans/F.md --finish --auto --pr"),
    ("plans/F.md direct", "run plans/F.md --direct"),
    ("plans/F.md status", "status plans/F.md"),
    ("now", "run"),
    ("stop", "stop --all --schedule"),
    ("next", "status"),
]
"""The lines that must be understood as they stand."""


def is_plan(name: str) -> bool:
    return name in PLANS - {"plans/F.md status"}


def read(text: str) -> str | Unclear:
    """Give the command that words mean, as it would be typed."""
    said = parse(text, is_plan)
    return said if isinstance(said, Unclear) else shlex.join(said)


@pytest.mark.parametrize(("text", "command"), EXAMPLES, ids=[text for text, _ in EXAMPLES])
def test_a_line_of_the_source_is_understood_as_it_stands(text: str, command: str) -> None:
    assert read(text) == command
    assert read(text.upper().replace("PLANS/F.MD", F).replace("4B", "4b").replace("4H", "4h")) == command


def test_finish_and_every_are_refused_together() -> None:
    assert read("plans/F.md finish every 4h") == snapshot(
        Unclear(
            what="finish and every cannot be combined",
            why="finish runs all phases that are left at once; every runs the next one each time.",
            understood="plan plans/F.md, finish, every 4h",
        )
    )


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("plans/stop auto.md", "run 'plans/stop auto.md'"),
        ('"plans/stop auto.md" finish', "run 'plans/stop auto.md' --finish"),
        ("plans/stop auto.md stop", "stop 'plans/stop auto.md' --schedule"),
        ("finish plans/stop auto.md auto", "run 'plans/stop auto.md' --finish --auto"),
        ("plans/stop.md auto", "run plans/stop.md --auto"),
        ("my next plan.md 2", "run 'my next plan.md' 2"),
        ("rate-limit auto every day at 9am", "run rate-limit --auto --every 'day at 9am'"),
        ("auto every 4h rate-limit", "run rate-limit --auto --every 4h"),
        ("stop rate-limit", "stop rate-limit --schedule"),
        ("plans/gone.md finish", "run plans/gone.md --finish"),
        ("stop gone", "stop gone --schedule"),
        ("stop 4b", "stop 4b --schedule"),
        ("rate-limit 4b", "run rate-limit 4b"),
        ("-x.md finish", "run ./-x.md --finish"),
    ],
)
def test_a_plan_is_found_before_any_word_is(text: str, command: str) -> None:
    assert read(text) == command


def test_the_longest_path_that_is_a_plan_is_the_one() -> None:
    assert parse("plans/F.md status", PLANS.__contains__) == ("run", "plans/F.md status")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("plans/F.md status next stop", "stop plans/F.md --schedule"),
        ("plans/F.md next status", "status plans/F.md"),
        ("plans/F.md finish every 4h stop", "stop plans/F.md --schedule"),
        ("plans/F.md finish auto status", "status plans/F.md"),
        ("plans/F.md now", "run plans/F.md"),
        ("plans/F.md auto now", "run plans/F.md --auto"),
    ],
)
def test_stop_outranks_next_and_next_outranks_status_and_status_the_rest(text: str, command: str) -> None:
    assert read(text) == command


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("plans/F.md every day at 14:00 now", "run plans/F.md --auto --every 'day at 14:00' --now"),
        ("every weekday at 9am plans/F.md", "run plans/F.md --auto --every 'weekday at 9am'"),
        (
            "plans/F.md every monday,thursday at 18:30 auto",
            "run plans/F.md --auto --every 'monday,thursday at 18:30'",
        ),
        ("plans/F.md every 3 9 * * 1-5 pr", "run plans/F.md --auto --every '3 9 * * 1-5' --pr"),
    ],
)
def test_a_time_goes_on_until_the_next_word(text: str, command: str) -> None:
    assert read(text) == command


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
            ("phase is given 2 times: 2, 3", "Give it once.", "plan plans/F.md, phase 2, phase 3"),
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
                "every is given 2 times: 4h, 2h",
                "Give it once.",
                "plan plans/F.md, every 4h, every 2h",
            ),
            ('"--finish" means nothing here', "asbuilt does not guess.", "plan plans/F.md"),
            ('"y" means nothing here', "asbuilt does not guess.", "plan x, auto"),
        ]
    )


@given(
    plan=st.sampled_from([F, "plans/stop auto.md", "rate-limit"]),
    phase=st.sampled_from([None, "1", "4b", "2.1", "T12"]),
    flags=st.tuples(*(st.sampled_from([None, word]) for word in ("finish", "auto"))),
    landing=st.sampled_from([None, "pr", "direct"]),
)
def test_words_that_are_said_are_understood_as_they_were_meant(
    plan: str, phase: str | None, flags: tuple[str | None, ...], landing: str | None
) -> None:
    words = [*filter(None, (*flags, landing))]
    text = " ".join([plan, *filter(None, [phase]), *words])
    assert parse(text, is_plan) == ("run", plan, *filter(None, [phase]), *(f"--{word}" for word in words))


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
    said = parse(" ".join(parts), is_plan)
    assert isinstance(said, Unclear) or said[0] in ("run", "status", "stop")
