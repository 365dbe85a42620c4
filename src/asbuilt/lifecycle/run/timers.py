"""When does a run go on? Times in, times out. Pure: the caller says what time it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_UNKNOWN: Final = timedelta(minutes=15)
_PASSED: Final = timedelta(minutes=1)
_RETRIES_S: Final = (5, 30, 120, 600, 1800, 3600)
_OVERLOADS_S: Final = (60, 300, 900, 1800, 3600)
"""The agent itself has tried it several times before it gave up."""
_DEFERRALS: Final = {1: 1, 10: 10, 16: 30, 26: 60}
"""From which deferral on a schedule looks again after so many minutes."""


def reopens_at(said: str | None, now: str) -> str:
    """Say when a usage limit is tried again, as the journal writes times.

    An agent that does not say when, or names a moment that has passed while its limit still holds, is asked
    again after a while: never at once, which would ask for ever.
    """
    here = moment(now)
    try:
        opens = moment(said or "")
    except (ValueError, OverflowError):
        return written(here + _UNKNOWN)
    return written(opens if opens > here else here + _PASSED)


def again_at(troubles: int, now: str) -> str:
    """Say when a move that met trouble is tried again: later each time, at most an hour."""
    wait_s = _RETRIES_S[min(troubles, len(_RETRIES_S) - 1)]
    return written(moment(now) + timedelta(seconds=wait_s))


def backs_off_until(overloads: int, now: str) -> str:
    """Say when an agent is tried again whose model's servers had too much to do: later each time."""
    wait_s = _OVERLOADS_S[min(overloads, len(_OVERLOADS_S) - 1)]
    return written(moment(now) + timedelta(seconds=wait_s))


def deferrals_told(number: int) -> bool:
    """Tell whether people hear of a deferral: only when the waits become longer."""
    return number in _DEFERRALS


def seconds_after(since: str, wait_s: float) -> str:
    """Say when so much time has passed since a moment."""
    return written(moment(since) + timedelta(seconds=wait_s))


def deferral_min(number: int) -> int:
    """Say for how many minutes a schedule waits that the same phase has deferred so many times."""
    return _DEFERRALS[max(began for began in _DEFERRALS if began <= number)]


def deferred_until(number: int, now: str) -> str:
    """Say when a schedule looks again after it was deferred so many times."""
    return written(moment(now) + timedelta(minutes=deferral_min(number)))


def moment(text: str) -> datetime:
    """Read a time of the journal, in UTC."""
    read = datetime.fromisoformat(text)
    return read.replace(tzinfo=read.tzinfo or UTC).astimezone(UTC)


def written(moment: datetime) -> str:
    """Write a time as the journal does."""
    utc = moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"
