"""Grammar of schedules: parse a cadence, and format it. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple, assert_never

from cronsim import CronSim, CronSimError

EXAMPLES: Final = ("30m", "4h", "day at 9am", "weekday at 22:00", "monday,thursday at 18:30", "0 9 1 * *")
_LONGEST_MIN: Final = 366 * 24 * 60
_UNITS: Final = {"d": 24 * 60, "h": 60, "m": 1}
_NAMES: Final = {"d": "day", "h": "hour", "m": "minute"}
EVERY_DAY: Final = (0, 1, 2, 3, 4, 5, 6)
WEEKDAYS: Final = (0, 1, 2, 3, 4)
_GROUPS: Final = {"day": EVERY_DAY, "weekday": WEEKDAYS}
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_INTERVAL: Final = re.compile(r"([0-9]{1,7})\s*([mhd])")
_AT: Final = re.compile(r"([a-z, ]+?)\s+at\s+([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm)?")
_CRON_FIELDS: Final = 5
_NOON: Final = 12
_LEAP_YEAR: Final = datetime(2000, 1, 1, tzinfo=UTC)


class Interval(NamedTuple):
    """An interval in minutes, counted from when it was scheduled."""

    minutes: int


class DaysAt(NamedTuple):
    """On some days of the week, 0 for Monday, at a time of day."""

    days: tuple[int, ...]
    hour: int
    minute: int


class Cron(NamedTuple):
    """A cron expression with five fields, verbatim."""

    expression: str


Cadence = Interval | DaysAt | Cron


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
    days = _GROUPS.get(at[1]) or _days(at[1])
    if not days:
        return Unreadable("before `at`, write day, weekday, or names of days: monday,thursday")
    return DaysAt(days, *clock)


def moved(cadence: Cadence, minutes: int) -> Cadence:
    """Move a time on the full hour by some minutes, away from peak load; cron expressions stay."""
    if isinstance(cadence, DaysAt) and cadence.minute == 0:
        return cadence._replace(minute=minutes)
    return cadence


def write(cadence: Cadence) -> str:
    """Format a cadence so that `read` returns it unchanged."""
    match cadence:
        case Interval(minutes):
            unit, size = next((unit, size) for unit, size in _UNITS.items() if minutes % size == 0)
            return f"{minutes // size}{unit}"
        case DaysAt(days, hour, minute):
            group = next((name for name, known in _GROUPS.items() if known == days), "")
            return f"{group or ','.join(_DAYS[day].lower() for day in days)} at {hour:02}:{minute:02}"
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
        case DaysAt(days, hour, minute):
            names = [_DAYS[day] for day in days]
            listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
            group = {EVERY_DAY: "every day", WEEKDAYS: "Monday to Friday"}.get(days, listed)
            return f"{group} at {hour:02}:{minute:02}"
        case Cron(expression):
            return f"by cron {expression}"
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


def _days(text: str) -> tuple[int, ...]:
    """Find days by their names or first three letters; empty if one of them is no day."""
    known = {name: at for at, day in enumerate(_DAYS) for name in (day.lower(), day[:3].lower())}
    names = [name for name in text.replace(" ", ",").split(",") if name]
    return tuple(sorted({known[name] for name in names})) if known.keys() >= set(names) else ()


def _cron(expression: str) -> Cron | Unreadable:
    try:
        next(CronSim(expression, _LEAP_YEAR))
    except CronSimError as error:
        return Unreadable(f"as a cron expression: {str(error)[:1].lower()}{str(error)[1:]}")
    except StopIteration:
        return Unreadable("there is no such date in 50 years")
    return Cron(expression)
