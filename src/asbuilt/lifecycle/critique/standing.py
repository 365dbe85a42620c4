"""State of a finding across all rounds of critique."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from asbuilt.lifecycle.critique.findings import Citation, Finding


class State(StrEnum):
    """State of a finding."""

    OPEN = "open"
    RESOLVED = "resolved"
    LATE = "late"
    """First raised in unchanged text by a later round: carried, but requires no further round."""


class Standing(NamedTuple):
    """A finding across all rounds."""

    id: str
    """`F3`, numbered in the order of discovery."""
    finding: Finding
    """At its highest level, with its position in the newest revision and all evidence."""
    said: tuple[str, ...]
    """Every wording."""
    raised: tuple[int, ...]
    """Rounds that raised it."""
    state: State
    by: tuple[Citation, ...] = ()
    """Citations that resolved it."""

    @property
    def is_carried(self) -> bool:
        """Return whether the finding goes into the plan when no round is left."""
        return self.state in (State.OPEN, State.LATE) and self.finding.is_material
