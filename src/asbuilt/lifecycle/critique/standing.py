"""A finding through all rounds of critique, and its state."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from asbuilt.lifecycle.critique.findings import Citation, Finding


class State(StrEnum):
    """What has become of a finding."""

    OPEN = "open"
    RESOLVED = "resolved"
    LATE = "late"
    """Found anew in text that had not changed: carried, and nobody waits for it."""
    WAIVED = "waived"


class Standing(NamedTuple):
    """A finding through all rounds."""

    id: str
    """`F3`, in the order in which they were found."""
    finding: Finding
    """As it was said at its highest level, where it stands in the newest revision, with all evidence."""
    said: tuple[str, ...]
    """In every wording."""
    raised: tuple[int, ...]
    """The rounds that found it."""
    state: State
    by: tuple[Citation, ...] = ()
    """What resolved it."""
    why: str = ""
    """Why it was waived, and by whom."""

    @property
    def is_carried(self) -> bool:
        """Tell whether it has to go into the plan when no round is left."""
        return self.state in (State.OPEN, State.LATE) and self.finding.is_material
