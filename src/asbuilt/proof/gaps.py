"""Phrases by which something is called done that is not. They warn; a verdict is another matter."""

from __future__ import annotations

from typing import Final

PHRASES: Final = ("noted as gap", "deferred", "skipped", "future work")


def gaps_in(text: str) -> tuple[str, ...]:
    """Return the phrases that a text has, in the order of the list."""
    said = " ".join(text.casefold().split())
    return tuple(phrase for phrase in PHRASES if phrase in said)
