"""What a kind of event is paired with: functions that put its fields into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from asbuilt.events.event import Event

if TYPE_CHECKING:
    from collections.abc import Callable

Words = tuple[str, str, bool]
"""One word, the rest of the line, and whether it is news; False: bookkeeping."""
Kind = TypeVar("Kind", bound=Event)
HASH: Final = 7
"""So much of a commit's name is shown."""


def said(kind: type[Kind], words: Callable[[Kind], Words]) -> tuple[type[Event], Callable[[Event], Words]]:
    """Pair a kind of event with its words, for a table of kinds that have different fields."""

    def checked(event: Event) -> Words:
        if not isinstance(event, kind):
            raise TypeError(f"{type(event).__name__} is not {kind.__name__}")
        return words(event)

    return kind, checked


def outcome_words(word: str, outcome: str, why: str = "") -> Words:
    """Say how something came out."""
    return word, f"{outcome.replace('_', ' ')} {why}", True
