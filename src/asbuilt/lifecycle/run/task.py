"""What is known about a run that works on a numbered task, folded from its events."""

from __future__ import annotations

from msgspec import Struct


class TaskFacts(Struct):
    """A run that works on a numbered task."""

    number: int = 0
    operation: str = ""
    """plan, or research."""
    outcome: str | None = None
    """finished, partial, failed or blocked, once what was handed in is judged."""
    why: str = ""
    phases: tuple[str, ...] = ()
    """The first phases of its plan, by title."""
    count: int = 0
    hours: float | None = None
    path: str = ""
    posted: bool = False
    """The ledger knows of it."""
    status: str = ""
    """How the task stands since."""
