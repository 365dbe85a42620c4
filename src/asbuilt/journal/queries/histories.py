"""A cache of plans' events for a worker: only new events are read.

Rule: a cached history is used only if the journal still has its last event unchanged.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from asbuilt.journal.encoding.codec import whole
from asbuilt.journal.events import whole_history
from asbuilt.journal.queries.overview import Told, facts_from

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.kinds import Facts

_PLANS: Final = 64


class Histories:
    """The histories of the 64 most recently used plans."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._kept: dict[Address, tuple[Entry, Told]] = {}
        self._guard = threading.Lock()

    def facts_of(self, session: Session, run: Run) -> Facts:
        """Return the facts of a run."""
        return facts_from(run, self.of(session, run.address))

    def of(self, session: Session, address: Address) -> Told:
        """Return a plan's events in order, the same as an uncached read would."""
        with self._guard:
            kept = self._kept.pop(address, None)
        told: Told = []
        fresh: list[Entry] = []
        if kept is not None:
            last, told = kept
            fresh = [*whole_history(session, address, after=last.seq - 1)]
            # The last event is gone: its transaction was rolled back, or the store was restored from a
            # backup.
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
