"""Plans' histories as a worker has read them: what is new is read, the rest is remembered.

The one rule: what is remembered counts only while the journal still has its last event as it was.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from asbuilt.journal.encoding.codec import whole
from asbuilt.journal.events import whole_history
from asbuilt.journal.queries.overview import facts_from

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address
    from asbuilt.journal.queries.overview import Told
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.kinds import Facts

_PLANS: Final = 64


class Histories:
    """The histories of the plans that were asked for last."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._kept: dict[Address, tuple[Entry, Told]] = {}
        self._guard = threading.Lock()

    def facts_of(self, session: Session, run: Run) -> Facts:
        """Fold what is known of a run."""
        return facts_from(run, self.of(session, run.address))

    def of(self, session: Session, address: Address) -> Told:
        """Return a plan's events in order, as a fresh look at the journal would."""
        with self._guard:
            kept = self._kept.pop(address, None)
        told: Told = []
        fresh: list[Entry] = []
        if kept is not None:
            last, told = kept
            fresh = [*whole_history(session, address, after=last.seq - 1)]
            # Gone: it was seen in a transaction which came to nothing, or the store was set back.
            kept = kept if fresh and fresh.pop(0) == last else None
        if kept is None:
            told, fresh = [], [*whole_history(session, address)]
        told = [*told, *(whole(entry, self._blobs.get) for entry in fresh)]
        newest = fresh[-1] if fresh else kept and kept[0]
        with self._guard:
            if newest is not None:
                self._kept[address] = newest, told
            if len(self._kept) > _PLANS:
                del self._kept[next(iter(self._kept))]
        return told
