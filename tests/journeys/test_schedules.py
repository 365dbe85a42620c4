"""Plans that are run by themselves, as a person types it; the clock of commands and worker is set."""

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
    assert _typed(office, "now", "greet") == snapshot("""\
exit 0
--- stdout
No active schedule.
--- stderr
Next: asbuilt run greet --every "4h"
""")
    far = datetime.now(UTC) + timedelta(hours=6)
    assert _schedule(office, "greet", f"day at {far:%H}:00") == snapshot("""\
exit 0
--- stdout
Scheduled greet: one phase, every day at [HH:MM], UTC.
  [HH:MM], [HH:MM], [HH:MM]
  [HH:MM], not [HH:MM], to miss the rush (schedule.offset). Implies --auto.
--- stderr
Agents   scripted implements and verifies, in two processes
Cost     no past runs to go by; capped at $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
! Fires only while the worker lives: asbuilt worker install survives restarts.
Stop: asbuilt stop greet    Early: asbuilt now greet
""")
    assert _schedule(office, "greet", "4h") == snapshot("""\
exit 0
--- stdout
Scheduled greet: one phase, every 4 hours, UTC, in place of the one before.
  [HH:MM], [HH:MM], [HH:MM]
  Implies --auto.
--- stderr
Agents   scripted implements and verifies, in two processes
Cost     no past runs to go by; capped at $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
! Fires only while the worker lives: asbuilt worker install survives restarts.
Stop: asbuilt stop greet    Early: asbuilt now greet
""")
    assert _typed(office, "next") == snapshot("""\
exit 0
--- stdout
greet          in [TIME], [HH:MM] UTC: asbuilt run greet --auto
""")
    assert _typed(office, "status", "greet") == snapshot("""\
exit 0
--- stdout
greet   not run
Its next phase is run by itself: every 4h; next [HH:MM] UTC, in [TIME].
""")
    clock.set(4 * HOUR + 60)
    until(lambda: "landed" in office.asbuilt("status", "greet"))
    until(lambda: "by itself" in office.asbuilt("status", "greet"))
    assert office.git("log", "--format=%s", "-1") == snapshot("Mark plans/greet.md")
    log = office.asbuilt("log", "greet")
    assert (log.count("scheduled"), log.count("fires")) == (2, 1)
    early = office.asbuilt("now")
    assert early.splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.2 landed on main: 1 phase proven, [AGE]."]
    )
    assert "Scheduled every 4h; next" in early
    plan = office.shop / "plans" / "greet.md"
    (plan.parent / "again.md").write_text(plan.read_text(encoding="utf-8"), encoding="utf-8")
    _schedule(office, "again", "300d")
    assert _typed(office, "now") == snapshot("""\
exit 2
--- stderr
error: 2 plans are scheduled here: again, greet
  Why:  Which one is meant cannot be told.
  Next: Name it: asbuilt now again
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
    assert _typed(office, "next") == snapshot("""\
exit 0
--- stdout
Nothing is due by itself here: no active schedule.
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
    until(lambda: f"it begins phases only {hours}" in _words(office))
    clock.set(4 * HOUR)
    out, _ = watched.communicate(timeout=180)
    assert out.partition(", ")[0] == "greet.1 landed on main: 1 phase proven"
    worker.kill()
    worker.communicate()
