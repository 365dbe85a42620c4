"""Take runs of the fleet that this worker may serve.

Rule: a worker takes only what it has a free slot and every label for. A run whose workspace a live worker has
is left to that worker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from asbuilt.journal.engine import fleet, segments, workers
from asbuilt.journal.ids import Segment
from asbuilt.lifecycle.fleet import Offer, is_served

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Engine
    from asbuilt.journal.database.store import Session, Store


class Taking:
    """The share of one worker in the work of the fleet."""

    def __init__(
        self, store: Store, engine: Engine, offer: Callable[[], Offer | None], *, org: str, lost_s: float
    ) -> None:
        """Keep the parts; `offer` is read again at each poll. It is None after the worker left the fleet."""
        self._store = store
        self._engine = engine
        self._offer = offer
        self._org = org
        self._lost_s = lost_s
        self._reported: frozenset[str] | None = None

    def find(self, session: Session) -> list[Segment]:
        """List what this worker may take now."""
        free, offer = self._engine.free, self._offer()
        places = fleet.places(session, self._org) if free and offer else []
        served = [place for place in places if offer and is_served(place, offer)]
        if not served:
            return []
        since = workers.earlier(session.now, self._lost_s)
        return fleet.next_for(
            session, self._org, self._engine.worker, places=served, alive_since=since, limit=free
        )

    def take(self, found: list[Segment], now: str) -> None:
        """Take segments, each unless another worker has taken it, and register what this worker offers."""
        offer = self._offer()
        words = frozenset() if offer is None else offer.words
        if words != self._reported:
            with self._store.write() as session:
                slots = 0 if offer is None else self._engine.slots
                fleet.offer(session, self._org, self._engine.worker, labels=words, slots=slots)
            self._reported = words
        if found:
            self._engine.prepare(found, now)
        for segment in found:
            with self._store.write() as session:
                fleet.take(session, segment, worker=self._engine.worker)

    def take_over(self, workflow: str, lost: str) -> bool:
        """Take a segment of a lost worker; return False if it is not the fleet's or not for this worker."""
        with self._store.write() as session:
            segment = segments.named(session, self._org, workflow)
            if segment is None or not fleet.is_fleets(session, segment):
                return False
            place = fleet.place_of(session, segment) or ""
            offer = self._offer()
            since = workers.earlier(session.now, self._lost_s)
            is_mine = (
                offer is not None
                and is_served(place, offer)
                and fleet.take_over(
                    session, segment, lost=lost, worker=self._engine.worker, alive_since=since
                )
            )
        if is_mine:
            self._engine.resume(workflow, queue=self._engine.own_queue, left_by=lost)
        return True
