"""What a first hour meets: every screen says the same of a plan, while it runs and after it."""

from __future__ import annotations

import re
import time

import pytest
from inline_snapshot import snapshot

from tests.journeys.shop import PLAN, SCRIPT
from tests.journeys.test_commands import Office, office, until

__all__ = ["office"]
pytestmark = pytest.mark.crash
_LIMIT_S = 60.0
"""Far above the few seconds that it takes, far below the ten minutes that a check may take."""
_ONE = PLAN.partition("## Phase 2a")[0]


def test_what_is_proven_and_held_is_listed_by_approve_and_counted_alike_everywhere(office: Office) -> None:
    assert office.run("--hold").splitlines()[0] == "exit 0"
    listed = office.asbuilt("approve")
    assert listed == snapshot("""\
exit 0
--- stdout
  ID       KIND      ABOUT                                 FROM              AGE
  greet.1  landing   proven; land it on main?              greet.1 [AGE]
--- stderr
Next: asbuilt approve yes greet.1
""")
    assert office.asbuilt("verify", "greet").splitlines()[0] == "exit 0"
    assert office.asbuilt("approve") == listed
    assert (
        office.asbuilt("status", "greet").splitlines()[2]
        == "greet   held, 1 of 4 phases proven, not landed, next 2a"
    )
    shown = office.asbuilt("plan", "show", "greet").splitlines()
    assert shown[-2:] == snapshot(
        ["1 of 4 phases done (25%), 0 marked, 0 of 4 items. Next 2a. 33 lines. No", "problems."]
    )
    assert office.asbuilt("land", "greet").splitlines()[0] == "exit 0"
    assert office.asbuilt("approve") == (
        "exit 0\n--- stdout\nNothing waits for you here.\n--- stderr\nNext: asbuilt status\n"
    )


def test_a_plan_that_landed_stays_landed_when_it_is_verified_and_an_undo_prints_no_landing(
    office: Office,
) -> None:
    (office.shop / "plans" / "greet.md").write_text(_ONE, encoding="utf-8")
    office.git("commit", "-qam", "one phase")
    assert office.run("--finish", "--auto").splitlines()[0] == "exit 0"
    landed = office.asbuilt("status", "greet")
    assert landed.splitlines()[2:] == snapshot(
        [
            "greet   landed, 1 of 1 phase done (100%)",
            "✓ 1   Greet                      landed [HASH]             [HH:MM]",
            "Landed on main [HH:MM].",
            "--- stderr",
            "Next: asbuilt report greet.1",
        ]
    )
    for typed in (("verify", "greet"), ("run", "greet", "--auto", "--script", str(office.script))):
        assert office.asbuilt(*typed).splitlines()[0] == "exit 0"
        assert office.asbuilt("status", "greet") == landed
        assert "✓ greet         landed" in office.asbuilt("status")
    undone = office.asbuilt("land", "greet", "--undo")
    assert re.findall(r" - +([A-Z]+) +(.*)", undone)[-2:] == snapshot(
        [
            ("REVERTED", "main [HASH]"),
            ("UNDONE", "the landed commits are reverted"),
        ]
    )


def test_a_run_that_runs_is_not_due(office: Office) -> None:
    office.script.write_text("[[turn]]\nacts = [{ sleep = 60 }]\n" + SCRIPT, encoding="utf-8")
    with office.typed("run", "greet", "--auto", "--script", str(office.script)) as process:
        until(lambda: "IMPLEMENT" in office.asbuilt("log", "greet").upper())
        assert office.asbuilt("status") == snapshot("""\
exit 0
--- stdout
  PLAN          STATE                      PHASES  WAITS FOR               COST
● greet         1: implementing            0 of 4  scripted, [AGE] ago
--- stderr
Next: asbuilt watch greet
  or  end it: asbuilt stop greet
""")
        assert office.asbuilt("stop", "greet").splitlines()[0] == "exit 0"
        process.communicate()


def test_a_stop_ends_the_check_that_runs(office: Office) -> None:
    plan = _ONE.replace("grep -q hello greet.py", "sh -c 'trap : TERM; while :; do sleep 1; done'")
    (office.shop / "plans" / "greet.md").write_text(plan, encoding="utf-8")
    office.git("commit", "-qam", "a check that does not end")
    with office.typed("run", "greet", "--auto", "--script", str(office.script)) as process:
        until(lambda: "SAYS DONE" in office.asbuilt("log", "greet").upper())
        until(lambda: "runs the checks" in office.asbuilt("status", "greet"))
        began = time.monotonic()
        assert office.asbuilt("stop", "greet").splitlines()[0] == "exit 0"
        took = time.monotonic() - began
        process.communicate()
    assert "stopped" in office.asbuilt("status", "greet").splitlines()[2]
    assert took < _LIMIT_S
