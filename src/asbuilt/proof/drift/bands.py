"""Limits for the drift of a plan's numbers, and what follows. Rule: only the user refines a plan."""

from __future__ import annotations

from typing import Final

QUIET_PCT: Final = 10
"""Percent up to which an approximate number is corrected silently."""
NOTED_PCT: Final = 20
"""Percent up to which it is corrected with a note. Beyond it the number does not hold."""
SEVERAL: Final = 2
"""Count of numbers off by more than `QUIET_PCT` from which the plan as a whole is off."""


def structural(far: int) -> str:
    """Return that a plan is off as a whole if at least 2 of its numbers are far off; else an empty text."""
    return f"{far} numbers of the plan are off by more than {QUIET_PCT} %" if far >= SEVERAL else ""
