from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.cli.live.finished import Story
from asbuilt.cli.live.frame import ROWS, Activity, Moment, frame
from asbuilt.cli.live.rows import Canvas, text_of
from asbuilt.cli.ui.columns import width
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.symbols import ASCII, UNICODE
from asbuilt.journal.queries.overview import RunView
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.run_state import PhaseProgress, State, Waiting, WaitsFor
from tests.cli import live
from tests.cli.live import (
    NOW,
    event,
    evidence,
)

pytestmark = pytest.mark.usefixtures("in_utc")
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=120) | st.sampled_from(
    [
        "\x1b[2J\x1b]0;owned\x07",
        "日本語" * 30,
        "a\u0301" * 90,
        "\u202eevil",
        "`" * 7,
        "x" * 500,
        "\U0001f600" * 50,
        "\n\r\t",
    ]
)
TIMES = st.floats(-1e6, 1e7).map(live.ago)
PHASES = st.builds(
    PhaseProgress,
    ANY_TEXT,
    ANY_TEXT,
    st.sampled_from(get_args(State)),
    TIMES | st.just(""),
    st.none() | ANY_TEXT,
    st.none() | st.integers(1, 999),
    st.integers(0, 99),
    st.lists(ANY_TEXT, max_size=3).map(tuple),
)
WAITS = st.builds(
    WaitsFor,
    st.sampled_from(get_args(Waiting)),
    st.none() | ANY_TEXT,
    TIMES | st.just(""),
    st.none() | TIMES,
    ANY_TEXT,
)
VIEWS = st.builds(
    RunView,
    st.builds(
        lambda slug, branch, hold: live.run(slug=slug, branch=branch, hold=hold),
        ANY_TEXT,
        ANY_TEXT,
        st.booleans(),
    ),
    ANY_TEXT,
    st.lists(PHASES, max_size=30),
    WAITS,
    st.lists(ANY_TEXT.map(live.question), max_size=2),
    st.builds(Spent, st.floats(0, 1e9), usd_unreported=st.integers(0, 1)),
    st.none(),
)
ACTIVITIES = st.builds(Activity, ANY_TEXT, ANY_TEXT, st.none() | st.just(NOW), st.integers(0, 10**9))
MOMENTS = st.builds(
    Moment,
    VIEWS,
    st.just(NOW),
    st.none() | ACTIVITIES,
    st.lists(st.tuples(ANY_TEXT, ACTIVITIES), max_size=3).map(tuple),
    st.lists(ANY_TEXT, max_size=5).map(tuple),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.none() | ANY_TEXT,
)
CANVASES = st.builds(Canvas, st.integers(20, 80), st.integers(1, 60), st.sampled_from([UNICODE, ASCII]))


def _harmless(rows: list[Any], canvas: Canvas) -> None:
    for row in rows:
        text = text_of(row)
        assert width(text) <= canvas.width
        assert printable(text) == text
        assert canvas.symbols is UNICODE or text.isascii()


@given(MOMENTS, CANVASES)
def test_no_facts_make_a_frame_too_high_too_wide_or_steer_the_terminal(
    moment: Moment, canvas: Canvas
) -> None:
    rows = frame(moment, canvas)
    assert 1 <= len(rows) <= min(ROWS, canvas.height)
    _harmless(rows, canvas)


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["FAIL", "PASS", "NOT_RUN"]), CANVASES)
def test_no_words_make_a_finished_row_too_wide_or_steer_the_terminal(
    phase: str, words: str, outcome: str, canvas: Canvas
) -> None:
    story = Story()
    for one, shown in (
        (event("attempt.begun", 90, phase=phase, number=1, role="fix", agent=words), []),
        (event("attempt.ended", 80, phase=phase, number=1, ending="done", says=words), []),
        (
            event("checks.done", 70, phase=phase, number=1, outcome=outcome),
            [evidence(words, exit_code=1, why=words)],
        ),
        (
            event(
                "verdict.given", 60, phase=phase, number=1, outcome=outcome, failures=[{"text": words}] * 2
            ),
            [],
        ),
        (event("phase.proven", 50, phase=phase, commit=words), []),
        (event("attempt.ended", 40, phase=phase, number=1, ending="crashed", reason=words), []),
        (event("landing.refused", 30, what=words, next=words), []),
    ):
        story.record(one, shown)
        _harmless(story.finished({phase: words}, canvas), canvas)
