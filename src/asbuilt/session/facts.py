"""What a conversation is told of a plan. Pure. The one rule: a door reads it from disk, each time anew."""

from __future__ import annotations

from typing import NamedTuple


class PlanFacts(NamedTuple):
    """A plan as it stands on disk and in the journal, now."""

    path: str
    shown: str
    """Its path as people read it."""
    name: str
    """What people type."""
    title: str = ""
    open: tuple[str, ...] = ()
    """The items that are still to be done, in order; empty in a plan that counts none."""
    phase: str = ""
    """The phase in work; empty when all are done, or there are none."""
    item: str = ""
    """The item in work."""
    is_over: bool = False
    """Finished, or given up: it is never revived."""
    text: str = ""
    """Its text, or of a long plan the phase in work."""
    is_whole: bool = True
    """Whether `text` is all of it."""
    changed_at: float = 0.0
