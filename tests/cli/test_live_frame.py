from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from msgspec.structs import replace

from asbuilt.cli.live.finished import Story
from asbuilt.cli.live.frame import Activity, frame
from asbuilt.cli.live.rows import Canvas, text_of
from asbuilt.cli.ui.symbols import UNICODE
from asbuilt.lifecycle.status.run_state import PhaseProgress, WaitsFor
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
  asbuilt: validates the draft
Ctrl-C leaves it running.
""")
    story = Story()
    story.record(event("stage.judged", phase="draft", number=1, outcome="accepted"))
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
  claude works on phase 2a, attempt 1, since 22:02. Restarts after 15m of
  silence (2h at most).
Ctrl-C leaves it running. Lands on main at the end.
""")
    assert drawn(frame(WORKS, NARROW)) == snapshot("""\
rate-limit.1  17m  1 of 4 proven  $1.31
● 2a  Redis sto… implementing, attempt 1
○ 2b  Limits pe…
○ 3   Middlewar… needs 2a, 2b
  claude: Edit src/ap…  6s ago, 23 calls
  claude works on phase 2a, attempt 1,
  since 22:02. Restarts after 15m of
  silence (2h at most).
Ctrl-C leaves it running.
""")
    assert drawn(frame(WORKS, PLAIN)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 4 proven   $1.31
* 2a  Redis store        implementing, attempt 1                              4m
. 2b  Limits per API key
. 3   Middleware and 429 needs 2a, 2b
  claude: Edit src/api/limits/store.py                     6s ago, 23 tool calls
  claude works on phase 2a, attempt 1, since 22:02. Restarts after 15m of
  silence (2h at most).
Ctrl-C leaves it running. Lands on main at the end.
""")


def test_phases_that_are_worked_on_side_by_side_have_a_row_for_each_agent() -> None:
    first, second, *rest = live.phases()[1:]
    shown = [
        live.phases()[0],
        first,
        second._replace(state="verifying", since=live.ago(20), attempt=1),
        *rest,
    ]
    lanes = (("2a", live.CLAUDE), ("2b", Activity("verifier", "Read src/api/keys.py", NOW, 4)))
    works = live.moment(WaitsFor("agent", "2a", live.ago(240), attempt="1"), shown, live.CLAUDE, lanes=lanes)
    assert drawn(frame(works, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 4 proven   $1.31
● 2a  Redis store        implementing, attempt 1                              4m
● 2b  Limits per API key verifying                                           20s
○ 3   Middleware and 429 needs 2a, 2b
  2a claude: Edit src/api/limits/store.py                  6s ago, 23 tool calls
  2b verifier: Read src/api/keys.py                         0s ago, 4 tool calls
Ctrl-C leaves it running. Lands on main at the end.
""")
    rows = drawn(frame(works, Canvas(120, 24, UNICODE))).splitlines()
    assert {len(row) for row in rows[1:3] + rows[4:6]} == {120}
    assert drawn(frame(works, NARROW)) == snapshot("""\
rate-limit.1  17m  1 of 4 proven  $1.31
● 2a  Redis sto… implementing, attempt 1
● 2b  Limits pe… verifying
○ 3   Middlewar… needs 2a, 2b
  2a claude: Edit src…  6s ago, 23 calls
  2b verifier: Read sr…  0s ago, 4 calls
Ctrl-C leaves it running.
""")


def _story(*, verdict: bool = False) -> Story:
    story = Story()
    story.record(event("phase.begun", 900, phase="2a"))
    story.record(event("attempt.begun", 890, phase="2a", number=1, role="implement", agent="claude"))
    story.record(
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
        story.record(event("checks.done", 390, phase="2a", number=1, outcome="FAIL"), failed)
        return story
    story.record(event("checks.done", 390, phase="2a", number=1, outcome="PASS"), failed[:1])
    story.record(
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
      so             sent back to the agent (fix 1 of 2)
""")
    assert drawn(_story().finished(TITLES, NARROW)) == snapshot("""\
✗ 2a  Redis sto… NOT PROVEN
  claude says done, a check disagrees
  claude says: "all tests pass"
  asbuilt ran: uv run pytest
    tests/limits/test_store.py -q on a
    clean checkout: FAIL, exit 1
  so: sent back to the agent (fix 1 of
    2)
""")
    assert drawn(_story().finished(TITLES, PLAIN)) == snapshot("""\
x 2a  Redis store          NOT PROVEN: claude says done, a check disagrees
      claude says    "all tests pass"
      asbuilt ran    uv run pytest tests/limits/test_store.py -q on a clean
                     checkout: FAIL, exit 1
      so             sent back to the agent (fix 1 of 2)
""")
    assert drawn(_story(verdict=True).finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, a verifier disagrees
      claude says    "all tests pass"
      asbuilt ran    1 check: PASS
      verifier says  item 2: no expiry is set
      so             sent back to the agent (fix 1 of 2)
""")


def test_a_suite_that_was_made_to_pass_is_told_by_what_was_changed() -> None:
    story = _story()
    failures = ["tests/test_store.py:9, test_expiry: test removed"]
    story.record(event("checks.done", 380, phase="2a", number=1, outcome="FAIL", failures=failures))
    assert drawn(story.finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, rejected by asbuilt
      claude says    "all tests pass"
      asbuilt sees   tests/test_store.py:9, test_expiry: test removed
      so             sent back to the agent (fix 1 of 2)
""")


def test_what_the_old_tests_show_of_a_change_is_told_though_every_check_passes() -> None:
    story = _story()
    failures = ["tests/test_store.py, test_expiry: test skipped: now “it fails on the new code”"]
    checks = event("checks.done", 380, phase="2a", number=1, outcome="FAIL", failures=failures)
    story.record(checks, [evidence("tests", ran=230)])
    assert drawn(story.finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, rejected by asbuilt
      claude says    "all tests pass"
      asbuilt ran    1 check: PASS
      asbuilt sees   tests/test_store.py, test_expiry: test skipped: now “it
                     fails on the new code”
      so             sent back to the agent (fix 1 of 2)
""")


def test_when_no_cycle_is_left_the_failure_says_that_the_run_ends() -> None:
    story = _story()
    for number in (2, 3):
        story.record(event("attempt.begun", 200, phase="2a", number=number, role="fix", agent="claude"))
        story.record(event("attempt.ended", 190, phase="2a", number=number, ending="done"))
        story.record(event("checks.done", 180, phase="2a", number=number, outcome="NOT_RUN"), [])
    assert drawn(story.finished(TITLES, WIDE)) == snapshot("""\
✗ 2a  Redis store          NOT PROVEN: claude says done, the checks are NOT RUN
      so             no fix cycle is left; the run ends, all work is kept
""")


def test_a_proven_phase_leaves_one_row_with_its_evidence() -> None:
    story = _story()
    story.record(
        event("checks.done", 60, phase="2a", number=2, outcome="PASS"),
        [evidence("tests", ran=230), evidence("grep -q bucket store.py")],
    )
    assert story.finished(TITLES, WIDE) == []
    story.record(event("phase.proven", 30, phase="2a", commit="0be77d1" * 5))
    assert drawn(story.finished(TITLES, WIDE)) == snapshot(
        "✓ 2a  Redis store          proven  0be77d1  2 checks, 230 tests       14m  $1.20\n"
    )
    assert drawn(story.finished(TITLES, NARROW)) == snapshot("✓ 2a  Redis sto… proven  0be77d1\n")
    story.record(event("phase.proven", 30, phase="2a", commit="0be77d1" * 5, sign_offs=4))
    assert drawn(story.finished(TITLES, WIDE)) == snapshot(
        "✓ 2a  Redis store          proven, 4 changes to sign off  0be77d1     14m  $1.20\n"
    )
    assert drawn(story.finished(TITLES, NARROW)) == snapshot("✓ 2a  Redis sto… proven, 4 changes to s…\n")
    story.record(event("together.done", 20, outcome="PASS"), [evidence("tests", ran=236)])
    assert drawn(story.finished(TITLES, WIDE)) == snapshot(
        "✓ all together             proven  1 check, 236 tests\n"
    )


def test_tests_that_failed_before_as_well_are_counted_apart() -> None:
    shown = [evidence("tests", ran=2)._replace(failed=1), evidence("grep -q bucket store.py")]
    story = Story()
    story.record(event("checks.done", 60, phase="2a", number=2, outcome="PASS"), shown)
    story.record(event("phase.proven", 30, phase="2a", commit="0be77d1" * 5))
    assert drawn(story.finished(TITLES, WIDE)) == snapshot(
        "✓ 2a  Redis store          proven  0be77d1  2 checks, 1 of 2 tests            0s\n"
    )
    story.record(event("together.done", 20, outcome="PASS"), shown)
    assert drawn(story.finished(TITLES, WIDE)) == snapshot(
        "✓ all together             proven  2 checks, 1 of 2 tests (1 failed before)\n"
    )


def test_a_phase_whose_text_was_changed_during_the_run_says_so() -> None:
    story = Story()
    story.record(event("phase.begun", 60, phase="2a", edited=True))
    assert drawn(story.finished(TITLES, WIDE)) == (
        "! 2a  edited: its text was changed in the plan; the new text is built\n"
    )


def test_the_tests_of_several_suites_are_added_up_and_those_of_a_check_are_not() -> None:
    story = Story()
    suites = [
        evidence(f"tests in {name}", ran=ran)._replace(folder=name) for name, ran in (("a", 153), ("b", 263))
    ]
    story.record(event("together.done", outcome="PASS"), [*suites, evidence("pytest -k one", ran=7)])
    assert drawn(story.finished(TITLES, WIDE)) == snapshot(
        "✓ all together             proven  3 checks, 416 tests\n"
    )


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
        event("landing.refused", 5, what="Not landed: main moved.", next="land again"),
        event("landing.recovered", 5, found="Landed"),
        event("together.done", 4, outcome="FAIL"),
        event("together.done", 3, outcome="PASS"),
        event("tree.kept", 2, phase="2a", number=1, commit="c" * 40, tree="7" * 40, changed=True),
    ):
        story.record(one)
        rows += story.finished(TITLES, WIDE)
    assert drawn(rows) == snapshot("""\
✗ 2a  stalled: Nothing was heard for 900 s.
◇ parked until Sun 15 Nov 01:10: usage limit of the agent in phase 2a
! answered: a7: no: not today
✗ not landed: main moved.
! A landing was interrupted; it had completed.
✗ all together             not proven: FAIL
– all together             nothing to run
""")


def test_an_answer_is_news_to_everybody_but_the_one_who_gave_it() -> None:
    answered = replace(event("approval.answered", 6, number=7, key="k", answer="no"), actor="ann")
    for person, rows in (("ann", []), ("bob", ["! answered: a7: no"])):
        story = Story(person)
        story.record(answered)
        assert [text_of(row) for row in story.finished(TITLES, WIDE)] == rows
