"""How long a scheduled run is put off while its plan is busy, and which deferrals the user sees."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from asbuilt.lifecycle.run.timers import moment, written

_DEFERRALS: Final = {1: 1, 10: 10, 16: 30, 26: 60}
"""Wait in minutes before a schedule tries again, by the first deferral to which it applies."""


def deferrals_told(number: int) -> bool:
    """Return whether a deferral is reported: only when the wait becomes longer."""
    return number in _DEFERRALS


def deferral_min(number: int) -> int:
    """Return the minutes that a schedule waits after a number of deferrals by the same phase."""
    return _DEFERRALS[max(began for began in _DEFERRALS if began <= number)]


def deferred_until(number: int, now: str) -> str:
    """Return when a schedule tries again after a number of deferrals."""
    return written(moment(now) + timedelta(minutes=deferral_min(number)))
