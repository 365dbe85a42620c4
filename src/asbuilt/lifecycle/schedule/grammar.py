"""Grammar of schedules: parse a cadence, format it, and compute its next slot. Pure.

Rule: a slot is a moment in UTC that depends only on cadence, zone and anchor.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from cronsim import CronSim, CronSimError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

EXAMPLES: Final = ("30m", "4h", "day at 9am", "weekday at 22:00", "monday,thursday at 18:30", "0 9 1 * *")
_LONGEST_MIN: Final = 366 * 24 * 60
_UNITS: Final = {"d": 24 * 60, "h": 60, "m": 1}
_NAMES: Final = {"d": "day", "h": "hour", "m": "minute"}
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_INTERVAL: Final = re.compile(r"([0-9]{1,7})\s*([mhd])")
_AT: Final = re.compile(r"([a-z, ]+?)\s+at\s+([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm)?")
_CRON_FIELDS: Final = 5
_NOON: Final = 12
_LEAP_YEAR: Final = datetime(2000, 1, 1, tzinfo=UTC)


class Interval(NamedTuple):
    """An interval in minutes, counted from when it was scheduled."""

    minutes: int


class DailyAt(NamedTuple):
    """Every day at a time of day."""

    hour: int
    minute: int


class WeekdayAt(NamedTuple):
    """Monday to Friday at a time of day."""

    hour: int
    minute: int


class DaysAt(NamedTuple):
    """On some days of the week, 0 for Monday, at a time of day."""

    days: tuple[int, ...]
    hour: int
    minute: int


class Cron(NamedTuple):
    """A cron expression with five fields, verbatim."""

    expression: str


Cadence = Interval | DailyAt | WeekdayAt | DaysAt | Cron


class Unreadable(NamedTuple):
    """Why a text is no cadence."""

    why: str


def read(text: str) -> Cadence | Unreadable:
    """Parse a cadence."""
    wanted = " ".join(text.lower().split())
    interval = _INTERVAL.fullmatch(wanted)
    if interval:
        minutes = int(interval[1]) * _UNITS[interval[2]]
        if 1 <= minutes <= _LONGEST_MIN:
            return Interval(minutes)
        return Unreadable("an interval is at least 1m and at most 366d")
    if len(wanted.split(" ")) == _CRON_FIELDS and not _AT.fullmatch(wanted):
        return _cron(" ".join(text.split()))
    at = _AT.fullmatch(wanted)
    if at is None:
        return Unreadable("it is no interval, no time of a day, and no cron expression of five fields")
    clock = _clock(at[2], at[3], at[4])
    if clock is None:
        return Unreadable("there is no such time of day; write it as 9am, 9:30pm or 14:00")
    if at[1] == "day":
        return DailyAt(*clock)
    if at[1] == "weekday":
        return WeekdayAt(*clock)
    days = [_day(name) for name in at[1].replace(" ", ",").split(",") if name]
    found = tuple(sorted({day for day in days if day is not None}))
    if None in days or not found:
        return Unreadable("before `at` stands day, weekday, or names of days: monday,thursday")
    return DaysAt(found, *clock)


def moved(cadence: Cadence, minutes: int) -> Cadence:
    """Move a time on the full hour by some minutes, away from peak load; cron expressions stay."""
    match cadence:
        case DailyAt(minute=0) | WeekdayAt(minute=0) | DaysAt(minute=0):
            return cadence._replace(minute=minutes)
        case _:
            return cadence


def write(cadence: Cadence) -> str:
    """Format a cadence so that `read` returns it unchanged."""
    match cadence:
        case Interval(minutes):
            unit, size = next((unit, size) for unit, size in _UNITS.items() if minutes % size == 0)
            return f"{minutes // size}{unit}"
        case DailyAt(hour, minute):
            return f"day at {hour:02}:{minute:02}"
        case WeekdayAt(hour, minute):
            return f"weekday at {hour:02}:{minute:02}"
        case DaysAt(days, hour, minute):
            return f"{','.join(_DAYS[day].lower() for day in days)} at {hour:02}:{minute:02}"
        case Cron(expression):
            return expression
        case _:
            assert_never(cadence)


def meaning(cadence: Cadence) -> str:
    """Describe a cadence: `every 4 hours`, `Monday and Thursday at 18:30`."""
    match cadence:
        case Interval():
            many, unit = int(write(cadence)[:-1]), _NAMES[write(cadence)[-1]]
            return f"every {unit}" if many == 1 else f"every {many} {unit}s"
        case DailyAt(hour, minute):
            return f"every day at {hour:02}:{minute:02}"
        case WeekdayAt(hour, minute):
            return f"Monday to Friday at {hour:02}:{minute:02}"
        case DaysAt(days, hour, minute):
            names = [_DAYS[day] for day in days]
            listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
            return f"{listed} at {hour:02}:{minute:02}"
        case Cron(expression):
            return f"by cron {expression}"
        case _:
            assert_never(cadence)


def next_after(cadence: Cadence, after: datetime, zone: tzinfo, *, anchor: datetime) -> datetime:
    """Return the first slot after a moment, in UTC; intervals count from `anchor`.

    A time that the clocks skip fires right after the gap; a time that they show twice fires once.
    """
    if isinstance(cadence, Interval):
        step = timedelta(minutes=cadence.minutes)
        # With a clock set back before the anchor the slots stay the same; the anchor itself is no slot.
        return anchor + ((after - anchor) // step + 1 or 1) * step
    # In the hour that the clocks repeat, cronsim yields past slots again.
    found = (slot.astimezone(UTC) for slot in CronSim(_expression(cadence), after.astimezone(zone)))
    return next(slot for slot in found if slot > after)


def slots(cadence: Cadence, after: datetime, zone: tzinfo, *, anchor: datetime) -> Iterator[datetime]:
    """Yield the slots after a moment."""
    while True:
        after = next_after(cadence, after, zone, anchor=anchor)
        yield after


def next_times(cadence: Cadence, after: datetime, zone: tzinfo, *, anchor: datetime) -> list[datetime]:
    """Return the next three slots, in a time zone."""
    return [slot.astimezone(zone) for slot in islice(slots(cadence, after, zone, anchor=anchor), 3)]


def _expression(cadence: DailyAt | WeekdayAt | DaysAt | Cron) -> str:
    match cadence:
        case DailyAt(hour, minute):
            return f"{minute} {hour} * * *"
        case WeekdayAt(hour, minute):
            return f"{minute} {hour} * * 1-5"
        case DaysAt(days, hour, minute):
            return f"{minute} {hour} * * {','.join(str(day + 1) for day in days)}"
        case Cron(expression):
            return expression
        case _:
            assert_never(cadence)


def _clock(hours: str, minutes: str | None, half: str | None) -> tuple[int, int] | None:
    hour, minute = int(hours), int(minutes or 0)
    if half is None:
        # A bare number could mean morning or evening.
        return (hour, minute) if minutes is not None and hour < 2 * _NOON and minute < 60 else None
    if not 1 <= hour <= _NOON or minute >= 60:
        return None
    return hour % _NOON + (_NOON if half == "pm" else 0), minute


def _day(name: str) -> int | None:
    """Find a day by its name or its first three letters."""
    found = (number for number, day in enumerate(_DAYS) if name in (day.lower(), day[:3].lower()))
    return next(found, None)


def _cron(expression: str) -> Cron | Unreadable:
    try:
        next(CronSim(expression, _LEAP_YEAR))
    except CronSimError as error:
        return Unreadable(f"as a cron expression: {str(error)[:1].lower()}{str(error)[1:]}")
    except StopIteration:
        return Unreadable("there is no such date in 50 years")
    return Cron(expression)
