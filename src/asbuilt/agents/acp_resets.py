"""Find when a usage limit opens again, in the few ways in which agents say so. Pure: it is told the time.

The one rule: a time that is not understood is not known; nobody waits for a guess.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MOMENT: Final = re.compile(r"\b(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))")
_EPOCH: Final = re.compile(r"(?:resets_at\D{1,4}|limit reached\|)(\d{10})\b")
_SECONDS: Final = re.compile(r"resets_in_seconds\D{1,4}(\d{1,8})\b")
_SPAN: Final = re.compile(r"(\d{1,6}) ?(d|h|m|s)[a-z]*", re.IGNORECASE)
_SPANS: Final = re.compile(r"(?:in|after) ((?:\d{1,6} ?(?:d|h|m|s)[a-z]*[ ,]*(?:and )?)+)", re.IGNORECASE)
_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_CLOCK: Final = re.compile(
    r"(?:\bat|resets) (?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?"
    r"(\d{1,2})(?::(\d\d))? ?([ap]m)(?: \(([a-z_/+-]+)\))?",
    re.IGNORECASE,
)
_DAY: Final = timedelta(days=1)


def resets_at(text: str, now: datetime) -> str | None:
    """Give the moment, UTC ISO 8601; `now` is aware, in the zone in which the agent tells the time."""
    try:
        moment = _moment(text, now)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def _moment(text: str, now: datetime) -> datetime | None:
    if found := _MOMENT.search(text):
        return datetime.fromisoformat(found[1])
    if found := _EPOCH.search(text):
        return datetime.fromtimestamp(int(found[1]), UTC)
    if found := _SECONDS.search(text):
        return now + timedelta(seconds=int(found[1]))
    if found := _SPANS.search(text):
        spans = _SPAN.findall(found[1])
        return now + timedelta(seconds=sum(int(number) * _UNITS[unit.lower()] for number, unit in spans))
    return _by_the_clock(found, now) if (found := _CLOCK.search(text)) else None


def _by_the_clock(found: re.Match[str], now: datetime) -> datetime:
    month, day, year, hour, minute, half, zone = found.groups()
    there = now.astimezone(ZoneInfo(zone)) if zone else now
    told = datetime.strptime(f"{hour}:{minute or '00'} {half.upper()}", "%I:%M %p")  # noqa: DTZ007  a time of day
    moment = there.replace(hour=told.hour, minute=told.minute, second=0, microsecond=0)
    if month:
        date = datetime.strptime(f"{month.title()} {day} {year}", "%b %d %Y")  # noqa: DTZ007  a date
        return moment.replace(year=date.year, month=date.month, day=date.day)
    return moment if moment > there else moment + _DAY
