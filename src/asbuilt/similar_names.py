"""Suggest the known name that is most like a typed one. Every floor suggests by this measure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

LIKENESS: Final = 0.7
"""How like a name must be to be suggested, from 0 to 1."""


def nearest(typed: str, known: Iterable[str], *, likeness: float = LIKENESS) -> str:
    """Return the most similar name; empty if none is similar. Swapped letters are the commonest slip."""
    wanted, names = typed.casefold(), {name.casefold(): name for name in known}
    swapped = [name for name in names if sorted(name) == sorted(wanted)]
    return next((names[name] for name in swapped or get_close_matches(wanted, names, 1, likeness)), "")


def did_you_mean(typed: str, known: Iterable[str], *, likeness: float = LIKENESS) -> str:
    """Return the suggestion as the end of a sentence; empty if no name is similar."""
    meant = nearest(typed, known, likeness=likeness)
    return f". Did you mean {meant}?" if meant else ""
