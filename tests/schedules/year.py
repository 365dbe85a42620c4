"""Five schedules in three zones over a year, with a worker that is down at random and a clock that jumps.

The one rule: one seed is one course of it, and what is expected is computed another way than by the product.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple
from zoneinfo import ZoneInfo

from msgspec import structs

from asbuilt.events.options import RunOptions
from asbuilt.journal import schedules
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.events import open_plan
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.schedules import Schedule
from asbuilt.lifecycle.run.retry_times import written
from asbuilt.lifecycle.schedule import grammar
from asbuilt.lifecycle.schedule.firing import Setting
from tests.faults.clocks import clock_in
from tests.journal.conftest import open_store
from tests.lifecycle.oracle import slots_between

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faults.clocks import Clock

SCHEDULES: Final = (
    ("day at 02:30", "Europe/Prague"),
    ("weekday at 09:03", "America/New_York"),
    ("monday,thursday at 01:45", "Australia/Lord_Howe"),
    ("4h", "Europe/Prague"),
    ("15 1 28,29 * *", "America/New_York"),
)
BEGINS: Final = datetime(2027, 9, 20, 12, 0, 17, tzinfo=UTC)
SLICE_DAYS, YEAR_DAYS = 50, 366
_FAR: Final = timedelta(days=45)
_OPTIONS: Final = RunOptions(auto=True)


class Look(NamedTuple):
    """One look at the schedules: when, and whether another process takes it after the last one was killed."""

    at: datetime
    is_anew: bool


class Course(NamedTuple):
    """What a year came to."""

    looks: int
    kills: int
    jumps_back: int
    fired: int
    coalesced: int
    """Slots that were due and for which another one has fired."""
    differences: list[str]


def looks(seed: int, days: int) -> Iterator[Look]:
    """Give the moments at which a worker looks, by chance."""
    chance = random.Random(seed)  # noqa: S311 - a course that can be gone again
    now, last = BEGINS, BEGINS + timedelta(days=days)
    while now < last:
        now += timedelta(minutes=chance.randint(1, 240), seconds=chance.randint(0, 59))
        match chance.randint(1, 100):
            case 1 | 2 | 3:
                now += timedelta(hours=chance.randint(3, 150))
                yield Look(now, is_anew=True)
            case 4 | 5:
                now -= timedelta(minutes=chance.randint(1, 60 * 72))
                yield Look(now, is_anew=False)
            case 6:
                ahead = timedelta(hours=chance.randint(1, 24 * 40))
                yield Look(now + ahead, is_anew=chance.random() < 0.5)
                yield Look(now, is_anew=chance.random() < 0.5)
            case _:
                yield Look(now, is_anew=False)


class Expected:
    """What has to fire, from the slots of an independent calculation and from when somebody has looked."""

    def __init__(self, cadence: str, zone: str, days: int) -> None:
        read = grammar.read(cadence)
        assert not isinstance(read, grammar.Unreadable)
        first, last = BEGINS - _FAR, BEGINS + timedelta(days=days) + _FAR
        self.slots = slots_between(read, first, last, ZoneInfo(zone), anchor=BEGINS)
        self.fired: set[datetime] = set()
        self.coalesced: set[datetime] = set()
        self._looked = BEGINS

    def look(self, now: datetime) -> list[datetime]:
        """Of the slots since the last look, the first that has not fired does, for all of them."""
        due = self.slots[bisect_right(self.slots, self._looked) : bisect_right(self.slots, now)]
        self._looked = now
        fires = [slot for slot in due if slot not in self.fired][:1]
        self.fired.update(fires)
        self.coalesced.update(due)
        return fires


class Clockwork:
    """The process that looks; killed, and another one is started."""

    def __init__(self, folder: Path, where: str, clock: Clock) -> None:
        self._argv = [sys.executable, "-m", "tests.schedules.clockwork", str(folder), where]
        self._environ = {**os.environ, **clock.environment, "CLOCK_STANDS_STILL": "1"}
        self._clock = clock
        self._process = self._start()

    def look(self, look: Look) -> list[tuple[str, str]]:
        self._clock.set(int(look.at.timestamp()))
        if look.is_anew:
            self.kill()
            self._process = self._start()
        assert self._process.stdin
        self._process.stdin.write("look\n")
        self._process.stdin.flush()
        return [(plan, slot) for plan, slot in json.loads(self._read())]

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            self._argv, env=self._environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._read() == "up\n"
        return self._process

    def _read(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline()


def play(folder: Path, where: str, *, seed: int, days: int) -> Course:
    """Go through so many days, and compare every look with what had to fire."""
    _set_up(where)
    expected = {f"plans/{number}.md": Expected(*one, days) for number, one in enumerate(SCHEDULES)}
    clock = clock_in(folder)
    clock.set(int(BEGINS.timestamp()))
    clockwork = Clockwork(folder, where, clock)
    count, kills, back, last = 0, 0, 0, BEGINS
    differences = []
    try:
        for count, look in enumerate(looks(seed, days), start=1):  # noqa: B007 - counted
            kills, back = kills + look.is_anew, back + (look.at < last)
            last = look.at
            due = [(plan, written(slot)) for plan, one in expected.items() for slot in one.look(look.at)]
            found = clockwork.look(look)
            if sorted(found) != sorted(due):
                differences.append(f"{look.at}: {sorted(set(found) ^ set(due))}")
    finally:
        clockwork.kill()
    fired = sum(len(one.fired) for one in expected.values())
    missed = sum(len(one.coalesced - one.fired) for one in expected.values())
    return Course(count, kills, back, fired, missed, differences)


def _set_up(where: str) -> None:
    """Schedule all five at the moment that the year begins."""
    now = written(BEGINS)
    store = open_store(where)
    store.migrate(STEPS)
    for number, (cadence, zone) in enumerate(SCHEDULES):
        address = Address(LOCAL, "6f9c", f"plans/{number}.md")
        slot = Setting(cadence, zone, now).next_after(now)
        with store.write() as session:
            open_plan(session, address, str(number))
            schedules.set_(
                session,
                Schedule(
                    *address, str(number), str(number), cadence, zone,
                    structs.replace(_OPTIONS, slug=str(number)),
                    "ann", now, slot, slot, now,
                ),
            )  # fmt: skip
    store.close()
