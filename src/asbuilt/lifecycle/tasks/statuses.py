"""Statuses of a task, and those of work in progress and done."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

PLAN: Final = "plan"
RESEARCH: Final = "research"


class Status(StrEnum):
    """Status of a task."""

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
        """Find a status by its name, or by its mark without brackets."""
        value = word.strip().lower().replace(" ", "_")
        return next((status for status in cls if status.value == value), None)

    @property
    def mark(self) -> str:
        """Mark of the status: `[NOT STARTED]`."""
        return f"[{self.value.replace('_', ' ').upper()}]"

    @property
    def is_terminal(self) -> bool:
        """Return whether the task is completed or abandoned."""
        return self in (Status.COMPLETED, Status.ABANDONED)


UNDER_WAY: Final = {PLAN: Status.PLANNING, RESEARCH: Status.RESEARCHING}
SETTLED: Final = {PLAN: Status.PLANNED, RESEARCH: Status.RESEARCHED}
