"""How far a number of a plan may be off, and what follows. Its one rule: only a person refines a plan."""

from __future__ import annotations

from typing import Final

QUIET_PCT: Final = 10
"""So far a number that was only meant roughly may be off, and is corrected without a word."""
NOTED_PCT: Final = 20
"""So far it may be off, and is corrected with a note. Beyond it the number does not hold."""
SEVERAL: Final = 2
"""From so many numbers on that are off by more than `QUIET_PCT`, the plan is off as a whole."""


def structural(far: int) -> str:
    """Say that a plan is off as a whole, where several of its numbers are far off; else nothing."""
    return f"{far} numbers of the plan are off by more than {QUIET_PCT} %" if far >= SEVERAL else ""
