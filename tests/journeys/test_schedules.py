"""Scheduled plans, as a person types it; the clock of commands and worker is set."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.journal.engine.liveness import holder
from tests.faults.clocks import clock_in
from tests.journeys.test_commands import Office, office, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.clocks import Clock

__all__ = ["office"]
pytestmark = pytest.mark.crash
HOUR = 3_600


@pytest.fixture
def clock(tmp_path: Path, office: Office) -> Clock:
    """A clock that commands and the worker live by."""
    made = clock_in(tmp_path)
    office.environ |= {**made.environment, "TZ": "UTC"}
    return made


def _typed(office: Office, *arguments: str) -> str:
    """Type a command; what depends on the time of day is left out, or named instead."""
    shown = re.sub(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d\d \w{3} ", "", office.asbuilt(*arguments))
    return re.sub(r"in \d+h( \[AGE\])?", "in [TIME]", shown)


def _schedule(office: Office, plan: str, every: str) -> str:
    return _typed(office, "run", plan, "--every", every, "--script", str(office.script))


def test_a_scheduled_plan_is_run_phase_by_phase_until_somebody_stops_it(office: Office, clock: Clock) -> None:
    worker = office.typed("worker", "--foreground")
    until(lambda: holder(office.state / "worker.lock"))
    far = datetime.now(UTC) + timedelta(hours=6)
    assert _schedule(office, "greet", f"day at {far:%H}:00") == snapshot("""\
exit 0
--- stdout
Scheduled greet: one phase, every day at [HH:MM], UTC.
  [HH:MM], [HH:MM], [HH:MM]
  Starts at [HH:MM] instead of [HH:MM] (schedule.offset). Implies --auto.
--- stderr
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
! Fires only while a worker is running; after asbuilt worker install also after
  a restart.
Next: asbuilt run greet
  or  end the schedule: asbuilt stop greet
""")
    assert _schedule(office, "greet", "4h") == snapshot("""\
exit 0
--- stdout
Scheduled greet: one phase, every 4 hours, UTC, in place of the one before.
  [HH:MM], [HH:MM], [HH:MM]
  Implies --auto.
--- stderr
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
! Fires only while a worker is running; after asbuilt worker install also after
  a restart.
Next: asbuilt run greet
  or  end the schedule: asbuilt stop greet
""")
    assert _typed(office, "status") == snapshot("""\
exit 0
--- stdout
  PLAN          STATE                      PHASES  WAITS FOR               COST
○ greet         not run                    -       [HH:MM] UTC
--- stderr
Next: asbuilt run greet
""")
    assert _typed(office, "status", "greet") == snapshot("""\
exit 0
--- stdout
greet   not run, 0 of 4 phases done (0%), next 1
○ 1   Greet                      ready
○ 2a  Part                       needs 1
○ 2b  Shout                      needs 1
○ 3   Both                       needs 2a, 2b
Scheduled: every 4h; next [HH:MM] UTC, in [TIME].
--- stderr
Next: asbuilt run greet
""")
    clock.set(4 * HOUR + 60)
    until(lambda: "landed" in office.asbuilt("status", "greet"))
    until(lambda: "Scheduled: every 4h" in office.asbuilt("status", "greet"))
    assert office.git("log", "--format=%s", "-1") == snapshot("Mark plans/greet.md")
    log = office.asbuilt("log", "greet")
    assert (log.count("scheduled"), log.count("fires")) == (2, 1)
    early = office.asbuilt("run-plan", "now")
    assert early.splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.2: 1 of 4 phases proven, not landed. [AGE]."]
    )
    assert "Scheduled every 4h; next" in early
    plan = office.shop / "plans" / "greet.md"
    (plan.parent / "again.md").write_text(plan.read_text(encoding="utf-8"), encoding="utf-8")
    _schedule(office, "again", "300d")
    assert _typed(office, "run") == snapshot("""\
exit 2
--- stderr
error: several plans match: again, greet
  Why:  asbuilt run works without a name only if one plan matches.
  Next: asbuilt run again
""")
    assert _typed(office, "stop", "greet") == snapshot("""\
exit 0
--- stdout
greet is no longer scheduled (4h).
""")
    assert _typed(office, "stop", "--all") == snapshot("""\
exit 0
--- stdout
again is no longer scheduled (300d).
""")
    assert _typed(office, "status") == snapshot("""\
exit 0
--- stdout
  PLAN          STATE                      PHASES  WAITS FOR               COST
◇ greet         held [HH:MM]                 2 of 4  you, [AGE]
--- stderr
Next: asbuilt run greet --finish
  or  land it now: asbuilt land greet
""")
    worker.kill()
    worker.communicate()


def _words(office: Office) -> str:
    out, _ = office.typed("status", "greet").communicate(timeout=120)
    return " ".join(out.split())


def test_a_run_outside_of_its_hours_waits_for_them(office: Office, clock: Clock) -> None:
    opens, closes = (datetime.now(UTC) + timedelta(hours=ahead) for ahead in (3, 5))
    worker = office.typed("worker", "--foreground")
    until(lambda: holder(office.state / "worker.lock"))
    hours = f"{opens:%H:%M}-{closes:%H:%M}"
    watched = office.typed("run", "greet", "--auto", "--between", hours, "--script", str(office.script))
    until(lambda: f"phases start only {hours}" in _words(office))
    out, _ = watched.communicate(timeout=180)
    # A run that has been parked for a minute says since when.
    told = re.sub(r" since \d\d:\d\d(:\d\d)?", "", out.partition(". ")[0])
    assert (watched.returncode, told) == (5, f"greet.1   Parked: phases start only {hours}")
    assert office.git("log", "--format=%s", "-1") == "start"
    clock.set(4 * HOUR)
    until(lambda: "greet   landed" in office.asbuilt("status", "greet"))
    assert office.git("log", "--format=%s", "-1") == "Mark plans/greet.md"
    worker.kill()
    worker.communicate()
