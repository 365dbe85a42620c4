"""The slots of a cadence, found another way: every minute of UTC is held against the clocks of a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, assert_never

from asbuilt.lifecycle.schedule.firing import next_after
from asbuilt.lifecycle.schedule.grammar import Cron, DaysAt, Interval

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from asbuilt.lifecycle.schedule.grammar import Cadence

MINUTE = timedelta(minutes=1)


def slots_between(
    cadence: Cadence, after: datetime, last: datetime, zone: tzinfo, *, anchor: datetime
) -> list[datetime]:
    """List the slots behind a moment, up to and with another one."""
    if isinstance(cadence, Interval):
        return _counted(cadence.minutes, after, last, anchor)
    return [slot for slot in _by_the_clocks(cadence, after, last, zone) if after < slot <= last]


def _counted(minutes: int, after: datetime, last: datetime, anchor: datetime) -> list[datetime]:
    step = minutes * MINUTE
    slot = anchor
    while slot > after:
        slot -= step
    found = []
    while slot <= last:
        if slot > after and slot != anchor:
            found.append(slot)
        slot += step
    return found


def slots(cadence: Cadence, after: datetime, zone: tzinfo, *, anchor: datetime) -> Iterator[datetime]:
    """Yield the slots after a moment, as the product computes them."""
    while True:
        after = next_after(cadence, after, zone, anchor=anchor)
        yield after


def _by_the_clocks(
    cadence: DaysAt | Cron, after: datetime, last: datetime, zone: tzinfo
) -> Iterator[datetime]:
    utc = after.replace(second=0, microsecond=0) - MINUTE
    before = utc.astimezone(zone).replace(tzinfo=None)
    while utc < last:
        utc += MINUTE
        shown = utc.astimezone(zone)
        wall = shown.replace(tzinfo=None, fold=0)
        if _goes_with_the_day(cadence):
            left_out = _walls(before + MINUTE, wall) if wall > before else ()
            again = shown.fold == 1
            if (_matches(cadence, wall) and not again) or any(_matches(cadence, one) for one in left_out):
                yield utc
        elif _matches(cadence, wall):
            yield utc
        before = wall


def _walls(first: datetime, end: datetime) -> Iterator[datetime]:
    while first < end:
        yield first
        first += MINUTE


def _goes_with_the_day(cadence: Cadence) -> bool:
    """Tell whether it names times of a day; `*/10` and `0 *` count minutes and hours as they pass."""
    if not isinstance(cadence, Cron):
        return True
    minute, hour, *_ = cadence.expression.split()
    return "*" not in minute and "*" not in hour


def _matches(cadence: Cadence, wall: datetime) -> bool:
    match cadence:
        case DaysAt(days, hour, minute):
            return wall.weekday() in days and (wall.hour, wall.minute) == (hour, minute)
        case Cron(expression):
            named = (wall.minute, wall.hour, wall.day, wall.month, wall.isoweekday() % 7)
            return all(_holds(field, value) for field, value in zip(expression.split(), named, strict=True))
        case Interval():
            raise AssertionError
        case _:
            assert_never(cadence)


def _holds(field: str, value: int) -> bool:
    """Read the fields that tests use: `*`, `*/10`, and lists of numbers."""
    if field.startswith("*"):
        return value % int(field[2:] or 1) == 0
    return value in map(int, field.split(","))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
