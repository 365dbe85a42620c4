"""How a task can stand, and how people read it."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a task stands."""

    NOT_STARTED = "not_started"
    RESEARCHING = "researching"
    RESEARCHED = "researched"
    PLANNING = "planning"
    PLANNED = "planned"
    IMPLEMENTING = "implementing"
    PARTIAL = "partial"
    PR_READY = "pr_ready"
    BLOCKED = "blocked"
    EXPANDED = "expanded"
    COMPLETED = "completed"
    ABANDONED = "abandoned"

    @classmethod
    def named(cls, word: str) -> Status | None:
        """Find it by its name, or by its mark without the brackets."""
        value = word.strip().lower().replace(" ", "_")
        return next((one for one in cls if one.value == value), None)

    @property
    def mark(self) -> str:
        """How people read it: `[NOT STARTED]`."""
        return f"[{self.value.replace('_', ' ').upper()}]"

    @property
    def is_terminal(self) -> bool:
        """Tell whether nothing more is to happen."""
        return self in (Status.COMPLETED, Status.ABANDONED)
