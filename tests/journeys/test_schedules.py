"""Plans that are run by themselves, as a person types it: real commands, a real worker, a clock that is set."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

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
    """Type a command; days and hours of what comes out are named instead."""
    shown = office.asbuilt(*arguments)
    shown = re.sub(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d\d \w{3} ", "[DAY] ", shown)
    return re.sub(r"\b(\d+d )?\d+h( \d\dm)?\b(?= *[,.:)]|$)", "[TIME]", shown, flags=re.MULTILINE)


def _schedule(office: Office, plan: str, every: str) -> str:
    return _typed(office, "run", plan, "--every", every, "--script", str(office.script))


def test_a_scheduled_plan_is_run_phase_by_phase_until_somebody_stops_it(office: Office, clock: Clock) -> None:
    worker = office.typed("worker", "--foreground")
    until(lambda: (office.state / "worker.lock").exists())
    assert _typed(office, "now", "greet") == snapshot()
    assert _schedule(office, "greet", "day at 9am") == snapshot()
    assert _schedule(office, "greet", "4h") == snapshot()
    assert _typed(office, "next") == snapshot()
    assert _typed(office, "status", "greet") == snapshot()
    clock.set(4 * HOUR + 60)
    until(lambda: "landed" in office.asbuilt("status", "greet"))
    until(lambda: "by itself" in office.asbuilt("status", "greet"))
    assert office.git("log", "--format=%s", "-1") == snapshot()
    log = office.asbuilt("log", "greet")
    assert (log.count("scheduled"), log.count("fires")) == (2, 1)
    early = office.asbuilt("now")
    assert early.splitlines()[:3] == snapshot()
    assert "Scheduled every 4h; next" in early
    plan = office.shop / "plans" / "greet.md"
    (plan.parent / "again.md").write_text(plan.read_text(encoding="utf-8"), encoding="utf-8")
    _schedule(office, "again", "monday,thursday at 18:30")
    assert _typed(office, "now") == snapshot()
    assert _typed(office, "stop", "greet") == snapshot()
    assert _typed(office, "stop", "--all") == snapshot()
    assert _typed(office, "next") == snapshot()
    worker.kill()
    worker.communicate()


def _words(office: Office) -> str:
    out, _ = office.typed("status", "greet").communicate(timeout=120)
    return " ".join(out.split())


def test_a_run_outside_of_its_hours_waits_for_them(office: Office, clock: Clock) -> None:
    opens, closes = (datetime.now(UTC) + timedelta(hours=ahead) for ahead in (3, 5))
    worker = office.typed("worker", "--foreground")
    until(lambda: (office.state / "worker.lock").exists())
    hours = f"{opens:%H:%M}-{closes:%H:%M}"
    watched = office.typed("run", "greet", "--auto", "--between", hours, "--script", str(office.script))
    until(lambda: f"it begins phases only {hours}" in _words(office))
    clock.set(4 * HOUR)
    out, _ = watched.communicate(timeout=180)
    assert re.sub(r"\d+m?s?\.$", "[AGE].", out.strip()) == snapshot()
    worker.kill()
    worker.communicate()
