"""Numbers and lists as people write them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def counted(count: int, one: str, many: str | None = None) -> str:
    """Say how many, in words that fit the number."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does: `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def size(count: int) -> str:
    """Say how many bytes, to two figures or so: `61 GB`, `940 MB`, `12 kB`."""
    for unit, bytes_in_it in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= bytes_in_it:
            return f"{count // bytes_in_it} {unit}"
    return f"{count} bytes"
