"""A worker's right to go on, on a database that others share: it lasts as long as its beats are accepted.

The one rule: a worker stops by its own clock before any other may take its work, by the database's.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt._version import VERSION
from asbuilt.errors import StoreFailed
from asbuilt.journal.engine import workers
from asbuilt.journal.home import machine

if TYPE_CHECKING:
    import threading

    from asbuilt.journal.database.store import Store

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""It goes on while the machine sleeps, as the database's clock does."""


class Times(NamedTuple):
    """How often a worker beats, when it stops without an accepted beat, and when others give it up."""

    beat_s: float = 15.0
    stop_s: float = 45.0
    lost_s: float = 60.0


class Lease:
    """The beats of one worker."""

    def __init__(self, store: Store, worker: str, *, org: str, times: Times) -> None:
        self._store = store
        self._org = org
        self.worker = worker
        self.times = times
        self._epoch = 0
        self._accepted_at = 0.0
        self.sign = 0
        """Changes with every accepted beat: whoever works for this worker may go on from there."""

    @property
    def is_good(self) -> bool:
        """Tell whether nobody can have taken this worker's work."""
        return time.clock_gettime(_CLOCK) - self._accepted_at < self.times.stop_s

    def register(self) -> None:
        """Say that this worker is there, before it does anything."""
        asked_at = time.clock_gettime(_CLOCK)
        with self._store.write() as session:
            self._epoch = workers.register(
                session, self._org, self.worker, host=machine(), pid=os.getpid(), build=VERSION
            )
        self._accept(asked_at)

    def beat(self, *, draining: bool = False) -> None:
        """Say that this worker lives. One that was given up registers anew; what it had, others have."""
        asked_at = time.clock_gettime(_CLOCK)
        with self._store.write() as session:
            accepted = workers.beat(session, self._org, self.worker, epoch=self._epoch, draining=draining)
        if accepted:
            self._accept(asked_at)
        else:
            self.register()

    def keep(self, ended: threading.Event) -> None:
        """Beat until told to end; what the database does not hear counts as nothing."""
        while not ended.wait(self.times.beat_s):
            try:
                self.beat()
            except StoreFailed:
                # Tried again with the next beat; without one, the lease runs out by itself.
                continue

    def _accept(self, asked_at: float) -> None:
        """Count from when it was asked: the database wrote it down later, so we stop earlier."""
        self._accepted_at = asked_at
        self.sign += 1
