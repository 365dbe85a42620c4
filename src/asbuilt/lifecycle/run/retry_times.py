"""Times of retries. Pure: the caller passes the current time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_UNKNOWN: Final = timedelta(minutes=15)
_PASSED: Final = timedelta(minutes=1)
_RETRIES_S: Final = (5, 30, 120, 600, 1800, 3600)
_OVERLOADS_S: Final = (60, 300, 900, 1800, 3600)
"""The agent has already retried several times before it reports an overload."""


def reopens_at(stated: str | None, now: str) -> str:
    """Return when a usage limit is tried again: as reported, else after 15 minutes; if past, after 1."""
    here = moment(now)
    try:
        opens = moment(stated or "")
    except (ValueError, OverflowError):
        return written(here + _UNKNOWN)
    return written(opens if opens > here else here + _PASSED)


def again_at(errors: int, now: str) -> str:
    """Return when a move is retried after a transient error: after 5 s, growing to 1 hour."""
    wait_s = _RETRIES_S[min(errors, len(_RETRIES_S) - 1)]
    return written(moment(now) + timedelta(seconds=wait_s))


def backs_off_until(overloads: int, now: str) -> str:
    """Return when an agent is retried after an overload: after 1 minute, growing to 1 hour."""
    wait_s = _OVERLOADS_S[min(overloads, len(_OVERLOADS_S) - 1)]
    return written(moment(now) + timedelta(seconds=wait_s))


def seconds_after(since: str, wait_s: float) -> str:
    """Return the time some seconds after a moment."""
    return written(moment(since) + timedelta(seconds=wait_s))


def moment(text: str) -> datetime:
    """Parse a time of the journal, in UTC."""
    read = datetime.fromisoformat(text)
    return read.replace(tzinfo=read.tzinfo or UTC).astimezone(UTC)


def written(moment: datetime) -> str:
    """Format a time as the journal does."""
    utc = moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"
