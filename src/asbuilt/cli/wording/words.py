"""Types and helpers to pair a kind of event with its wording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from asbuilt.events.event import Event

Words = tuple[str, str, bool]
"""The keyword, the rest of the line, and whether it is news. False: bookkeeping."""
Kind = TypeVar("Kind", bound=Event)
HASH: Final = 7
"""Characters of a commit hash that are shown."""


def said(kind: type[Kind], words: Callable[[Kind], Words]) -> tuple[type[Event], Callable[[Event], Words]]:
    """Pair a kind of event with its wording, so that one table holds kinds with different fields."""

    def checked(event: Event) -> Words:
        if not isinstance(event, kind):
            raise TypeError(f"{type(event).__name__} is not {kind.__name__}")
        return words(event)

    return kind, checked


def outcome_words(word: str, outcome: str, why: str = "") -> Words:
    """Return the words for an outcome."""
    return word, f"{outcome.replace('_', ' ')} {why}", True
