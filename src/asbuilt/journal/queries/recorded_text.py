"""The text of a plan that its runs have recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.phases import PhaseBegun
from asbuilt.events.runs import RunStarted
from asbuilt.journal.events import whole_history

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address


def recorded_text(session: Session, address: Address) -> str:
    """Return the digest of the newest text of a plan that any of its runs recorded; empty if none."""
    for entry in reversed(list(whole_history(session, address))):
        match entry.event:
            case PhaseBegun(text=text) if text:
                return text
            case RunStarted(revision=str(revision)):
                return revision
            case _:
                pass
    return ""
