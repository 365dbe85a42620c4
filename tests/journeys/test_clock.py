"""Schedules over hours and days: the clock of commands and of the worker is set."""

from __future__ import annotations

import json
import re
import struct
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from asbuilt.journal.engine.liveness import holder
from asbuilt.lifecycle.schedule import grammar
from tests.crash.points import SYSCALLS
from tests.crash.strike import Board, Struck, compiled
from tests.faults.clocks import clock_in
from tests.journeys.shop import ROOT
from tests.journeys.test_commands import Office, office, until
from tests.lifecycle.oracle import slots_between

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faults.clocks import Clock

__all__ = ["office"]
pytestmark = pytest.mark.crash
MINUTE, HOUR = 60, 3_600


@pytest.fixture
def clock(tmp_path: Path, office: Office) -> Clock:
    """A clock that commands and the worker live by."""
    made = clock_in(tmp_path)
    office.environ |= {**made.environment, "TZ": "UTC"}
    return made


@pytest.fixture
def workers() -> Iterator[list[subprocess.Popen[str]]]:
    """The workers that a test has started; they are ended with it."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def asked(office: Office, *arguments: str) -> dict[str, Any]:
    """Return the JSON that a command prints."""
    with office.typed(*arguments, "--json") as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    shown: dict[str, Any] = json.loads(out)
    return shown


def schedule_of(office: Office) -> dict[str, Any] | None:
    (plan,) = asked(office, "status", "greet")["plans"]
    shown: dict[str, Any] | None = plan["schedule"]
    return shown


def start_worker(office: Office, workers: list[subprocess.Popen[str]]) -> None:
    workers.append(office.typed("worker", "--foreground"))
    until(lambda: holder(office.state / "worker.lock"))


def every(office: Office, cadence: str) -> str:
    return office.asbuilt("run", "greet", "--every", cadence, "--script", str(office.script))


def fires(office: Office) -> int:
    return office.asbuilt("log", "greet").count("fires")


def test_a_schedule_outlives_its_worker_and_what_was_missed_fires_once(
    office: Office, clock: Clock, workers: list[subprocess.Popen[str]]
) -> None:
    start_worker(office, workers)
    every(office, "4h")
    workers[0].kill()
    workers[0].wait()
    clock.set(3 * 24 * HOUR)
    start_worker(office, workers)
    until(lambda: "landed" in office.asbuilt("status", "greet"))
    shown = schedule_of(office)
    assert shown is not None
    ahead = datetime.fromisoformat(shown["next"]) - (datetime.now(UTC) + timedelta(days=3))
    assert timedelta(0) < ahead <= timedelta(hours=4)
    assert (fires(office), office.git("log", "--format=%s", "main").splitlines()) == (
        1,
        ["Mark plans/greet.md", "Greet", "start"],
    )


def test_a_slot_that_comes_again_or_after_its_schedule_ended_fires_nothing(
    office: Office, clock: Clock, workers: list[subprocess.Popen[str]]
) -> None:
    start_worker(office, workers)
    every(office, "4h")
    clock.set(4 * HOUR + MINUTE)
    until(lambda: "landed" in office.asbuilt("status", "greet"))
    # The clock is put back to before the slot, and passes it a second time.
    clock.set(3 * HOUR)
    time.sleep(3)
    clock.set(4 * HOUR + MINUTE)
    time.sleep(5)
    assert (fires(office), schedule_of(office) is not None) == (1, True)
    assert office.asbuilt("stop", "greet").startswith("exit 0")
    clock.set(24 * HOUR)
    time.sleep(5)
    assert (fires(office), schedule_of(office)) == (1, None)
    assert office.git("log", "--format=%s", "main").count("Greet") == 1


def test_a_busy_phase_defers_its_schedule_for_longer_each_time_and_is_named(
    office: Office, clock: Clock, workers: list[subprocess.Popen[str]]
) -> None:
    office.script.write_text('[[turn]]\nphase = "1"\nacts = [{ hang = true }]\n', encoding="utf-8")
    start_worker(office, workers)
    every(office, "4h")
    run = office.typed("run", "greet", "--auto", "--script", str(office.script))
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    ahead, waits = 4 * HOUR + MINUTE, []
    for number in range(1, 27):
        clock.set(ahead)
        until(lambda number=number: (schedule_of(office) or {})["deferrals"] == number)  # type: ignore[misc]
        shown = schedule_of(office)
        assert shown is not None
        left = datetime.fromisoformat(shown["next"]) - datetime.now(UTC) - timedelta(seconds=ahead)
        waits.append(round(left / timedelta(minutes=1)))
        ahead += waits[-1] * MINUTE + 1
    assert waits == [1] * 9 + [10] * 6 + [30] * 10 + [60]
    words = " ".join(office.asbuilt("status", "greet").split())
    assert "phase 1 is in progress; looks again" in words
    with office.typed("log", "greet") as process:
        log = " ".join(process.communicate(timeout=120)[0].split())
    said = re.findall(r"Phase 1 already in progress, deferring. Backoff cadence now (\d+)m\.", log)
    assert [int(minutes) for minutes in said] == waits
    assert office.asbuilt("stop", "greet").startswith("exit 0")
    _, followed = run.communicate(timeout=120)
    # Whoever follows the run reads it only when the wait becomes longer.
    assert followed.count("Phase 1 already in progress, deferring") == 4


def test_a_command_that_changes_a_cadence_and_is_killed_leaves_the_old_or_the_new_one(
    office: Office, tmp_path: Path
) -> None:
    every(office, "4h")
    striking = {
        "LD_PRELOAD": str(compiled(tmp_path, ROOT)),
        "ASBUILT_CRASH_BOARD": str(tmp_path / "board"),
    }
    plain, struck = office.environ, {**office.environ, **striking}

    def changed(kind: str, point: int) -> Struck:
        """Change the cadence with a kill at one system call of a class; 0: without a kill."""
        board = Board(tmp_path / "board")
        board.aim(kind, point)
        office.environ = struck
        every(office, "30m")
        office.environ = plain
        return board.read()

    counts = changed(SYSCALLS[0], 0).counts
    seen = set()
    for kind in SYSCALLS:
        for point in range(1, counts[kind] + 1, max(1, counts[kind] // 4)):
            every(office, "4h")
            assert "--every 30m" in changed(kind, point).words
            shown = schedule_of(office)
            assert shown is not None
            seen.add(shown["cadence"])
    assert seen
    assert seen <= {"4h", "30m"}


@pytest.mark.parametrize(
    ("now", "cadence", "zone"),
    [
        ("2027-03-26T22:00", "day at 02:30", "Europe/Prague"),
        ("2027-10-29T22:00", "day at 02:30", "Europe/Prague"),
        ("2027-10-02T03:00", "day at 01:45", "Australia/Lord_Howe"),
        ("2027-12-31T22:57", "day at 23:58", "Europe/Prague"),
        ("2027-01-30T12:00", "0 6 31 * *", "America/New_York"),
        ("2027-02-27T12:00", "15 1 29 2 *", "America/New_York"),
        ("2027-12-31T23:59", "4h", "UTC"),
    ],
)
def test_the_times_that_a_schedule_announces_are_those_of_an_independent_calculation(
    office: Office, clock: Clock, workers: list[subprocess.Popen[str]], now: str, cadence: str, zone: str
) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    office.environ |= {"CLOCK_STANDS_STILL": "1", "ASBUILT_TIME_ZONE": zone, "ASBUILT_SCHEDULE_OFFSET": "0"}
    clock.file.write_bytes(struct.pack("=q", int(moment.timestamp())))
    # A worker that a command starts would live by the machine's own clock.
    start_worker(office, workers)
    read, days = grammar.read(cadence), 400 if "29 2" in cadence else 70
    assert not isinstance(read, grammar.Unreadable)
    until_then = moment + timedelta(days=days)
    wanted = slots_between(read, moment, until_then, ZoneInfo(zone), anchor=moment)[:3]
    with office.typed("run", "greet", "--every", cadence, "--script", str(office.script)) as process:
        out, _ = process.communicate(timeout=120)
    shown = schedule_of(office)
    assert shown is not None
    assert datetime.fromisoformat(shown["next"]) == wanted[0]
    times = re.findall(r"\b\d\d:\d\d\b", out.splitlines()[1])
    assert times[: len(wanted)] == [f"{one.astimezone(ZoneInfo(zone)):%H:%M}" for one in wanted], out
