"""When does a run go on? Times in, times out. Pure: the caller says what time it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_UNKNOWN: Final = timedelta(minutes=15)
_PASSED: Final = timedelta(minutes=1)
_RETRIES_S: Final = (5, 30, 120, 600, 1800, 3600)
_OVERLOADS_S: Final = (60, 300, 900, 1800, 3600)
"""The agent itself has tried it several times before it gave up."""


def reopens_at(said: str | None, now: str) -> str:
    """Say when a usage limit is tried again, as the journal writes times.

    An agent that does not say when, or names a moment that has passed while its limit still holds, is asked
    again after a while: never at once, which would ask for ever.
    """
    here = _time(now)
    try:
        opens = _time(said or "")
    except (ValueError, OverflowError):
        return _text(here + _UNKNOWN)
    return _text(opens if opens > here else here + _PASSED)


def again_at(troubles: int, now: str) -> str:
    """Say when a move that met trouble is tried again: later each time, at most an hour."""
    wait_s = _RETRIES_S[min(troubles, len(_RETRIES_S) - 1)]
    return _text(_time(now) + timedelta(seconds=wait_s))


def backs_off_until(overloads: int, now: str) -> str:
    """Say when an agent is tried again whose model's servers had too much to do: later each time."""
    wait_s = _OVERLOADS_S[min(overloads, len(_OVERLOADS_S) - 1)]
    return _text(_time(now) + timedelta(seconds=wait_s))


def seconds_after(moment: str, wait_s: float) -> str:
    """Say when so much time has passed since a moment."""
    return _text(_time(moment) + timedelta(seconds=wait_s))


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
