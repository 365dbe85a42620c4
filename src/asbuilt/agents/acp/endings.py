"""Derive how a turn over ACP ended from its stop reason or its error. Pure.

Rule: only stop reason `end_turn` is `done`. The adapter passes `cancelled` for a turn that a refusal ended.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asbuilt.agents.contract import Turn, stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.events.event import Cause

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


_AUTH_REQUIRED: Final = -32000
_WORDS: Final[tuple[tuple[str, Cause], ...]] = (
    ("usage_limit", "usage_limit"),
    ("usage limit", "usage_limit"),
    ("rate_limit", "usage_limit"),
    ("quota", "usage_limit"),
    ("overloaded", "overload"),
    ("server_error", "overload"),
    ("authentication_failed", "auth"),
    ("unauthorized", "auth"),
    ("api key not valid", "auth"),
    ("billing", "auth"),
    ("maximum budget", "budget"),
    ("maximum number of turns", "max_turns"),
    ("refusal", "refusal"),
)
"""Words to search for in an error without an HTTP status; the first match wins."""
_STATUS: Final = re.compile(
    r"(?:status(?:[ _]code)?\"?[:=]?|error:?|rejected|code\"?:) *\(?([45]\d\d)\b", re.IGNORECASE
)
_TEXT_CAP: Final = 1_000


def ended(response: Mapping[str, Any], *, says: str) -> Turn:
    """Return the ending of a turn with a response."""
    match response.get("stopReason"):
        case "end_turn":
            return Turn(ending="done", reason="The agent says that it is done.", says=says)
        case "max_turn_requests":
            return stopped("max_turns", "It used up its turns before it was done.", says=says)
        case "refusal":
            return stopped("refusal", "The model refused to continue.", says=says)
        case other:
            known = {
                "max_tokens": "It reached the length of an answer.",
                "cancelled": "Its turn was broken off.",
            }
            reason = known.get(str(other)) or f"It stopped for a reason that is not known: {other}"
            return Turn(ending="failed", reason=reason, says=says)


def refused(code: int, message: str, data: object, *, says: str, now: datetime) -> Turn:
    """Return the ending of a turn with an error."""
    told = json.dumps(data) if data else ""
    cause = _cause(code, f"{message} {told}")
    reason = f"Its model or its program failed: {_readable(message, data)}"[:_TEXT_CAP]
    if cause is None:
        return Turn(ending="failed", reason=reason, says=says)
    reopens_at = resets_at(f"{message} {told}", now) if cause == "usage_limit" else None
    return stopped(cause, reason, says=says, resets_at=reopens_at)


def _cause(code: int, text: str) -> Cause | None:
    if code == _AUTH_REQUIRED:
        return "auth"
    lower = text.lower()
    status = code if 400 <= code < 600 else int(found[1]) if (found := _STATUS.search(text)) else None
    match status:
        case 401 | 403:
            return "auth"
        case 429:
            return "usage_limit"
        case int() if status >= 500:
            return "overload"
        case int():
            return None
        case None:
            return next((cause for word, cause in _WORDS if word in lower), None)


def _readable(message: str, data: object) -> str:
    """Return an error's text; an internal error has it in its data."""
    match data:
        case {"message": str(text)} | {"details": str(text)}:
            return text
        case str() if data:
            return data
        case _:
            return message


# When a usage limit resets, in the formats that agents use. Pure: takes the current time as an argument.
#
# Rule: a time that cannot be parsed is unknown; never guess.


def resets_at(text: str, now: datetime) -> str | None:
    """Return the reset time, UTC ISO 8601; `now` is aware, in the time zone of the agent."""
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
