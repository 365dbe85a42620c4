"""Facts about a plan that a hook reports to a conversation. Pure.

Rule: read from disk for every event, never cached.
"""

from __future__ import annotations

from typing import NamedTuple


class PlanFacts(NamedTuple):
    """A plan as it is on disk and in the journal now."""

    path: str
    shown: str
    """Its path as shown to people."""
    name: str
    """Its name as people type it."""
    title: str = ""
    open: tuple[str, ...] = ()
    """Open items, in order; empty for a plan without items."""
    phase: str = ""
    """The current phase; empty when all are done or there are none."""
    is_in_work: bool = False
    """Whether the current phase has begun; else it is the next one."""
    item: str = ""
    """The current item."""
    is_over: bool = False
    """Finished or given up; never revived."""
    text: str = ""
    """The plan's text, or the current phase of a long plan."""
    is_whole: bool = True
    """Whether `text` is the whole plan."""
    changed_at: float = 0.0
