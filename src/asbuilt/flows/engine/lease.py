"""Lease of a worker on a shared database.

A worker writes a heartbeat every 15 s. It stops 45 s after the last accepted heartbeat, by its own clock; at
60 s, by the database's clock, other workers may take over its segments.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt._version import VERSION
from asbuilt.errors import StoreFailed
from asbuilt.journal.engine import workers
from asbuilt.journal.home import machine

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Store

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that also runs while the machine is suspended, as the database's does."""


class Times(NamedTuple):
    """Seconds between heartbeats, until a worker stops without one, and until others take over."""

    heartbeat_s: float = 15.0
    stop_s: float = 45.0
    lost_s: float = 60.0


class Lease:
    """The heartbeats of one worker."""

    def __init__(self, store: Store, worker: str, *, org: str, times: Times) -> None:
        self._store = store
        self._org = org
        self.worker = worker
        self.times = times
        self._epoch = 0
        self.is_given_up = False
        """Whether other workers took over: this process writes nothing more and has to start again."""
        self._accepted_at = 0.0
        self.sign = 0
        """Changes with every accepted heartbeat; hosts of agents continue only while it changes."""

    @property
    def is_good(self) -> bool:
        """Whether no other worker can have taken this worker's segments."""
        return time.clock_gettime(_CLOCK) - self._accepted_at < self.times.stop_s

    def register(self) -> None:
        """Register this worker, before it does anything else."""
        asked_at = time.clock_gettime(_CLOCK)
        with self._store.write() as session:
            self._epoch = workers.register(
                session, self._org, self.worker, host=machine(), pid=os.getpid(), build=VERSION
            )
        self._accept(asked_at)

    def heartbeat(self, *, draining: bool = False) -> None:
        """Write a heartbeat; it is rejected if other workers gave this one up."""
        asked_at = time.clock_gettime(_CLOCK)
        with self._store.write() as session:
            accepted = workers.heartbeat(
                session, self._org, self.worker, epoch=self._epoch, draining=draining
            )
        if accepted:
            self._accept(asked_at)
        else:
            self.is_given_up = True

    def holds(self, session: Session) -> bool:
        """Return whether no other worker gave this one up; none can until the transaction ends."""
        return workers.is_current(session, self._org, self.worker, epoch=self._epoch)

    def keep(self, ended: threading.Event) -> None:
        """Write heartbeats until `ended` is set; only heartbeats that the database accepted count."""
        while not self.is_given_up and not ended.wait(self.times.heartbeat_s):
            try:
                self.heartbeat()
            except StoreFailed:
                # The next heartbeat tries again; without one, the lease expires.
                continue

    def _accept(self, asked_at: float) -> None:
        """Count from the request: the database wrote it later, so this worker stops early."""
        self._accepted_at = asked_at
        self.sign += 1
