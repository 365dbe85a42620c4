"""Format numbers and lists. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, singular: str, many: str | None = None) -> str:
    """Format a count with its noun, singular or plural."""
    return f"{count} {singular if count == 1 else many or singular + 's'}"


def listed(words: Sequence[str]) -> str:
    """Join words: `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def size(count: int) -> str:
    """Format a number of bytes, rounded down to its unit: `61 GB`, `940 MB`, `12 kB`."""
    for unit, bytes_in_it in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= bytes_in_it:
            return f"{count // bytes_in_it} {unit}"
    return f"{count} bytes"


def by_whom(reason: str) -> str:
    """Return the end of a sentence about a stop or a pause: its reason, or the user who gave none."""
    return f": {reason.rstrip('.')}" if reason else " by the user"
