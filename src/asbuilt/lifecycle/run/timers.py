"""Times of retries. Pure: the caller passes the current time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_UNKNOWN: Final = timedelta(minutes=15)
_PASSED: Final = timedelta(minutes=1)
_RETRIES_S: Final = (5, 30, 120, 600, 1800, 3600)
_OVERLOADS_S: Final = (60, 300, 900, 1800, 3600)
"""The agent has already retried several times before it reports an overload."""
_DEFERRALS: Final = {1: 1, 10: 10, 16: 30, 26: 60}
"""Wait in minutes before a schedule tries again, by the first deferral to which it applies."""


def reopens_at(said: str | None, now: str) -> str:
    """Return when a usage limit is tried again, in the journal's format.

    Without a reported time it is tried after 15 minutes; if the reported time has passed, after 1 minute. It
    is never tried at once, which would loop.
    """
    here = moment(now)
    try:
        opens = moment(said or "")
    except (ValueError, OverflowError):
        return written(here + _UNKNOWN)
    return written(opens if opens > here else here + _PASSED)


def again_at(troubles: int, now: str) -> str:
    """Return when a move is retried after a transient error: after 5 s, growing to 1 hour."""
    wait_s = _RETRIES_S[min(troubles, len(_RETRIES_S) - 1)]
    return written(moment(now) + timedelta(seconds=wait_s))


def backs_off_until(overloads: int, now: str) -> str:
    """Return when an agent is retried after an overload: after 1 minute, growing to 1 hour."""
    wait_s = _OVERLOADS_S[min(overloads, len(_OVERLOADS_S) - 1)]
    return written(moment(now) + timedelta(seconds=wait_s))


def deferrals_told(number: int) -> bool:
    """Return whether a deferral is reported: only when the wait becomes longer."""
    return number in _DEFERRALS


def seconds_after(since: str, wait_s: float) -> str:
    """Return the time some seconds after a moment."""
    return written(moment(since) + timedelta(seconds=wait_s))


def deferral_min(number: int) -> int:
    """Return the minutes that a schedule waits after a number of deferrals by the same phase."""
    return _DEFERRALS[max(began for began in _DEFERRALS if began <= number)]


def deferred_until(number: int, now: str) -> str:
    """Return when a schedule tries again after a number of deferrals."""
    return written(moment(now) + timedelta(minutes=deferral_min(number)))


def moment(text: str) -> datetime:
    """Parse a time of the journal, in UTC."""
    read = datetime.fromisoformat(text)
    return read.replace(tzinfo=read.tzinfo or UTC).astimezone(UTC)


def written(moment: datetime) -> str:
    """Format a time as the journal does."""
    utc = moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"
