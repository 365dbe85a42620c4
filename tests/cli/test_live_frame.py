from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from msgspec.structs import replace

from asbuilt.cli.live.finished import Story
from asbuilt.cli.live.frame import ROWS, frame
from asbuilt.cli.live.moment import Activity, Moment
from asbuilt.cli.live.rows import Canvas, cells, text_of
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.symbols import ASCII, UNICODE
from asbuilt.journal.queries.overview import RunView
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.progress import PhaseProgress, State, Waiting, WaitsFor
from tests.cli import live
from tests.cli.live import (
    BEGINS,
    NARROW,
    NOW,
    PLAIN,
    TITLES,
    WIDE,
    WORKS,
    drawn,
    event,
    evidence,
)

pytestmark = pytest.mark.usefixtures("in_utc")


def test_before_the_first_phase_it_says_what_asbuilt_does() -> None:
    assert drawn(frame(BEGINS, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m
  asbuilt: runs the tests on the base
Ctrl-C leaves it running. Lands on main at the end.
""")


def test_the_names_of_stages_have_a_column_wide_enough_and_titles_begin_behind_it() -> None:
    titles = {"alternatives": "Weigh the options", "draft": "Write the plan", "revise-1": "Answer it"}
    stages = [
        PhaseProgress("alternatives", "Weigh the options", "done", live.ago(60)),
        PhaseProgress("draft", "Write the plan", "planning", live.ago(30)),
        PhaseProgress("revise-1", "Answer it", "ready", ""),
    ]
    works = live.moment(WaitsFor("asbuilt", why="Judge"), stages, of=live.run(kind="author"))
    assert drawn(frame(works, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 3 done   $1.31
● draft        Write the plan planning                                       30s
○ revise-1     Answer it
  asbuilt: judges what was handed in
Ctrl-C leaves it running.
""")
    story = Story()
    story.hear(event("stage.judged", phase="draft", number=1, outcome="accepted"))
    assert drawn(story.finished(titles, WIDE)) == snapshot(
        "✓ draft        Write the plan       accepted                                  0s\n"
    )


def test_while_an_agent_works_its_last_sign_is_shown() -> None:
    assert drawn(frame(WORKS, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 4 proven   $1.31
● 2a  Redis store        implementing, attempt 1                              4m
○ 2b  Limits per API key
○ 3   Middleware and 429 needs 2a, 2b
  claude: Edit src/api/limits/store.py                     6s ago, 23 tool calls
  Waits for claude, at work on attempt 1 of phase 2a since 22:02. Silent 15m, or
  2h in all: ended, its tree kept, tried again.
Ctrl-C leaves it running. Lands on main at the end.
""")
    assert drawn(frame(WORKS, NARROW)) == snapshot("""\
rate-limit.1  17m  1 of 4 proven  $1.31
● 2a  Redis sto… implementing, attempt 1
○ 2b  Limits pe…
○ 3   Middlewar… needs 2a, 2b
  claude: Edit src/ap…  6s ago, 23 calls
  Waits for claude, at work on attempt 1
  of phase 2a since 22:02. Silent 15m,
  or 2h in all: ended, its tree kept,
  tried again.
Ctrl-C leaves it running.
""")
    assert drawn(frame(WORKS, PLAIN)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 4 proven   $1.31
* 2a  Redis store        implementing, attempt 1                              4m
. 2b  Limits per API key
. 3   Middleware and 429 needs 2a, 2b
  claude: Edit src/api/limits/store.py                     6s ago, 23 tool calls
  Waits for claude, at work on attempt 1 of phase 2a since 22:02. Silent 15m, or
  2h in all: ended, its tree kept, tried again.
Ctrl-C leaves it running. Lands on main at the end.
""")


def _story(*, verdict: bool = False) -> Story:
    story = Story()
    story.hear(event("phase.begun", 900, phase="2a"))
    story.hear(event("attempt.begun", 890, phase="2a", number=1, role="implement", agent="claude"))
    story.hear(
        event(
            "attempt.ended",
            400,
            phase="2a",
            number=1,
            ending="done",
            says="all tests pass",
            attempt="2a.1",
            cost_usd=1.2,
        )
    )
    failed = [
        evidence("tests", ran=230),
        evidence("uv run pytest tests/limits/test_store.py -q", exit_code=1, why="exit 1"),
    ]
    if not verdict:
        story.hear(event("checks.done", 390, phase="2a", number=1, outcome="FAIL"), failed)
        return story
    story.hear(event("checks.done", 390, phase="2a", number=1, outcome="PASS"), failed[:1])
    story.hear(
        event(
            "verdict.given",
            300,
            phase="2a",
            number=1,
            outcome="FAIL",
            failures=[{"text": "item 2: no expiry is set"}],
        )
    )
    return story


def test_a_caught_lie_names_who_said_what_and_what_asbuilt_ran() -> None:
    assert drawn(_story().finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, a check disagrees
      claude says    "all tests pass"
      asbuilt ran    uv run pytest tests/limits/test_store.py -q on a clean
                     checkout: FAIL, exit 1
      so             fix cycle 1 of 2 gets exactly this.
""")
    assert drawn(_story().finished(TITLES, NARROW)) == snapshot("""\
✗ 2a  Redis sto… NOT PROVEN
  claude says done, a check disagrees
  claude says: "all tests pass"
  asbuilt ran: uv run pytest
    tests/limits/test_store.py -q on a
    clean checkout: FAIL, exit 1
  so: fix cycle 1 of 2 gets exactly
    this.
""")
    assert drawn(_story().finished(TITLES, PLAIN)) == snapshot("""\
x 2a  Redis store          NOT PROVEN: claude says done, a check disagrees
      claude says    "all tests pass"
      asbuilt ran    uv run pytest tests/limits/test_store.py -q on a clean
                     checkout: FAIL, exit 1
      so             fix cycle 1 of 2 gets exactly this.
""")
    assert drawn(_story(verdict=True).finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, the verifier disagrees
      claude says    "all tests pass"
      asbuilt ran    1 check: PASS
      verifier says  item 2: no expiry is set
      so             fix cycle 1 of 2 gets exactly this.
""")


def test_a_suite_that_was_made_to_pass_is_told_by_what_was_changed() -> None:
    story = _story()
    failures = ["tests/test_store.py:9, test_expiry: test removed"]
    story.hear(event("checks.done", 380, phase="2a", number=1, outcome="FAIL", failures=failures))
    assert drawn(story.finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, its change disagrees
      claude says    "all tests pass"
      asbuilt sees   tests/test_store.py:9, test_expiry: test removed
      so             fix cycle 1 of 2 gets exactly this.
""")


def test_what_the_old_tests_show_of_a_change_is_told_though_every_check_passes() -> None:
    story = _story()
    failures = ["tests/test_store.py, test_expiry: test skipped: now “it fails on the new code”"]
    checks = event("checks.done", 380, phase="2a", number=1, outcome="FAIL", failures=failures)
    story.hear(checks, [evidence("tests", ran=230)])
    assert drawn(story.finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, its change disagrees
      claude says    "all tests pass"
      asbuilt ran    1 check: PASS
      asbuilt sees   tests/test_store.py, test_expiry: test skipped: now “it
                     fails on the new code”
      so             fix cycle 1 of 2 gets exactly this.
""")


def test_when_no_cycle_is_left_the_failure_says_that_the_run_ends() -> None:
    story = _story()
    for number in (2, 3):
        story.hear(event("attempt.begun", 200, phase="2a", number=number, role="fix", agent="claude"))
        story.hear(event("attempt.ended", 190, phase="2a", number=number, ending="done"))
        story.hear(event("checks.done", 180, phase="2a", number=number, outcome="NOT_RUN"), [])
    assert drawn(story.finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, the checks are NOT RUN
      so             no cycle of fixing is left; the run ends, all work kept.
""")


def test_a_proven_phase_leaves_one_row_with_its_evidence() -> None:
    story = _story()
    story.hear(
        event("checks.done", 60, phase="2a", number=2, outcome="PASS"),
        [evidence("tests", ran=230), evidence("grep -q bucket store.py")],
    )
    assert story.finished(TITLES, WIDE) == []
    story.hear(event("phase.proven", 30, phase="2a", commit="0be77d1" * 5))
    assert drawn(story.finished(TITLES, WIDE)) == snapshot(
        "✓ 2a  Redis store          proven  0be77d1  2 checks, 230 tests       14m  $1.20\n"
    )
    assert drawn(story.finished(TITLES, NARROW)) == snapshot("✓ 2a  Redis sto… proven  0be77d1\n")
    story.hear(event("together.done", 20, outcome="PASS"), [evidence("tests", ran=236)])
    assert drawn(story.finished(TITLES, WIDE)) == snapshot("✓ all together   proven  1 check, 236 tests\n")


def test_other_news_stay_in_a_row() -> None:
    story, rows = Story(), []
    for one in (
        event(
            "attempt.ended", 9, phase="2a", number=1, ending="stalled", reason="Nothing was heard for 900 s."
        ),
        event("run.parked", 8, reason="answer", why="approval r1/between/2b", until=None),
        event(
            "run.parked",
            7,
            reason="limit",
            why="usage limit of the agent in phase 2a",
            until="2026-11-15T01:10:00Z",
        ),
        event("approval.answered", 6, number=7, key="k", answer="no", note="not today"),
        event("landing.refused", 5, what="src/api/app.py has changes of yours", next="commit them"),
        event("together.done", 4, outcome="FAIL"),
        event("together.done", 3, outcome="PASS"),
        event("tree.kept", 2, phase="2a", number=1, commit="c" * 40, tree="7" * 40, changed=True),
    ):
        story.hear(one)
        rows += story.finished(TITLES, WIDE)
    assert drawn(rows) == snapshot("""\
✗ 2a  stalled: Nothing was heard for 900 s.
◇ parked: usage limit of the agent in phase 2a, until Sun 15 Nov 01:10
! answered: a7: no: not today
✗ not landed: src/api/app.py has changes of yours
✗ all together   not proven: FAIL
– all together   nothing to run
""")


def test_an_answer_is_news_to_everybody_but_the_one_who_gave_it() -> None:
    answered = replace(event("approval.answered", 6, number=7, key="k", answer="no"), actor="ann")
    for person, rows in (("ann", []), ("bob", ["! answered: a7: no"])):
        story = Story(person)
        story.hear(answered)
        assert [text_of(row) for row in story.finished(TITLES, WIDE)] == rows


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
    st.builds(Spent, st.floats(0, 1e9), usd_untold=st.integers(0, 1)),
    st.none(),
)
MOMENTS = st.builds(
    Moment,
    VIEWS,
    st.just(NOW),
    st.none() | st.builds(Activity, ANY_TEXT, ANY_TEXT, st.none() | st.just(NOW), st.integers(0, 10**9)),
    st.lists(ANY_TEXT, max_size=5).map(tuple),
    st.booleans(),
    st.booleans(),
)
CANVASES = st.builds(Canvas, st.integers(20, 80), st.integers(1, 60), st.sampled_from([UNICODE, ASCII]))


def _harmless(rows: list[Any], canvas: Canvas) -> None:
    for row in rows:
        text = text_of(row)
        assert cells(text) <= canvas.width
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
        story.hear(one, shown)
        _harmless(story.finished({phase: words}, canvas), canvas)
