"""The worker: lets the engine run segments, and enqueues those that commands asked for.

Rule: a poll reads only what was asked for. A run that waits costs no query.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from asbuilt.errors import JournalDamaged, StoreFailed
from asbuilt.flows.engine.dbos import Engine, Flow
from asbuilt.journal import runs
from asbuilt.journal.engine import fleet, segments, workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asbuilt.flows.engine.fence import Tidings
    from asbuilt.flows.engine.lease import Lease
    from asbuilt.flows.engine.taking import Taking
    from asbuilt.flows.schedule import Schedules
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.ids import Segment

LOOK_S: Final = 0.2
LOOK_SHARED_S: Final = 2.0
"""Poll interval on a database that many workers share; a new request wakes them."""
_WINK_S: Final = 0.05
_ASK_S: Final = 4.0
"""Interval between queries of the engine for segments that it lists as running and no thread runs."""


class Tells(Flow, Protocol):
    """Performs segments, and has threads that wait on runs."""

    @property
    def tidings(self) -> Tidings:
        """The signals for those threads."""


def clear(scratch: Path, *engine_files: Path) -> None:
    """Empty the scratch folder, which a killed worker may have left full, and use it for temporary files.

    `engine_files` are files of older versions' engine, which are deleted: the journal has their contents.
    The caller must be the only worker: no other process may use the folder.
    """
    for file in engine_files:
        file.unlink(missing_ok=True)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700, exist_ok=True)
    tempfile.tempdir = str(scratch)


class Worker:
    """Serves the runs of one user: enqueues, fires schedules, passes on stops, replaces lost workers."""

    def __init__(  # noqa: PLR0913 - a worker has these parts
        self,
        store: Store,
        engine: Engine,
        flow: Tells,
        *,
        org: str,
        lease: Lease | None = None,
        machine: str | None = None,
        schedules: Schedules | None = None,
        taking: Taking | None = None,
        is_needed: Callable[[], bool] = lambda: False,
        is_outdated: Callable[[], bool] = lambda: False,
    ) -> None:
        """Keep the parts; without a `lease`, it is the only worker of its database.

        `machine` limits it to one machine's repositories on a shared database. Without `schedules`, only runs
        that users request start. Without `taking`, it takes no runs of the fleet. `is_needed` returns whether
        a background job needs the worker to stay, `is_outdated` whether another version of asbuilt was
        installed since the worker started.
        """
        self._store = store
        self._engine = engine
        self._flow = flow
        self._org = org
        self._lease = lease
        self._machine = machine
        self._schedules = schedules
        self._taking = taking
        self._is_needed = is_needed
        self._is_outdated = is_outdated
        self._dropped: frozenset[str] = frozenset()
        self._asked_at = 0.0
        self._swept = 0
        self._poked = threading.Event()

    def poke(self) -> None:
        """Poll at once: something may be due."""
        self._poked.set()

    def serve(self, ended: threading.Event, *, idle_s: float | None = None) -> bool:
        """Serve until `ended` is set, asbuilt was upgraded, or it is idle for `idle_s`.

        Returns True if other workers gave this one up: then it has to continue as a new process.
        """
        gone = threading.Event()
        try:
            self._come(gone)
            self._attend(ended, idle_s)
        finally:
            gone.set()
        if self._is_given_up:
            return True
        if self._lease is not None:
            # Agents continue without a worker until their hosts end them; then other workers take over.
            with suppress(StoreFailed):
                self._lease.beat(draining=True)
        return False

    @property
    def _is_given_up(self) -> bool:
        return self._lease is not None and self._lease.is_given_up

    def _attend(self, ended: threading.Event, idle_s: float | None) -> None:
        busy_at = time.monotonic()
        while not ended.is_set() and not self._is_outdated() and not self._is_given_up:
            try:
                if self.look(is_last_wanted=idle_s is not None):
                    busy_at = time.monotonic()
            except JournalDamaged:
                raise
            except StoreFailed:
                # The database may come back, and nothing that was written is lost.
                ended.wait(2.0)
                busy_at = time.monotonic()
                continue
            if idle_s is not None and time.monotonic() - busy_at >= idle_s:
                return
            self._rest(ended)

    def look(self, *, is_last_wanted: bool = False) -> bool:
        """Enqueue what was asked for; return, if wanted, whether anything continues without user action."""
        with self._store.read() as session:
            now, asked = session.now, segments.asked(session, self._org, machine=self._machine)
            self._flow.tidings.hear(runs.stopped(session, self._org))
            goes_on = is_last_wanted and segments.goes_on(
                session, self._org, self._engine.worker, machine=self._machine
            )
            found = self._taking.find(session) if self._taking else []
            rings = self._schedules is not None and self._schedules.is_due(session)
            stays = is_last_wanted and self._schedules is not None and self._schedules.is_any(session)
        if self._lease is None or self._lease.is_good:
            if asked:
                self._enqueue(asked, now)
            if self._taking is not None:
                self._taking.take(found, now)
            if rings and self._schedules is not None:
                self._schedules.fire()
            self._resume_dropped()
            self._sweep()
        return goes_on or stays or self._taking is not None or self._is_needed()

    def _come(self, gone: threading.Event) -> None:
        """Register before anything starts, and ask again for what is due: the engine may not have it."""
        if self._lease is not None:
            self._lease.register()
            threading.Thread(target=self._lease.keep, args=(gone,), daemon=True).start()
            threading.Thread(target=self._store.listen, args=(self.poke, gone), daemon=True).start()
        self._engine.launch(self._flow, ended=self.poke)
        with self._store.write() as session:
            segments.ask_again(session, self._org, before=session.now)

    def _rest(self, ended: threading.Event) -> None:
        """Wait for the next poll, or until woken."""
        until = time.monotonic() + (LOOK_SHARED_S if self._engine.is_shared else LOOK_S)
        while time.monotonic() < until and not self._poked.is_set() and not ended.wait(_WINK_S):
            continue
        self._poked.clear()

    def _enqueue(self, asked: list[Segment], now: str) -> None:
        self._engine.prepare(asked, now)
        with self._store.write() as session:
            for segment in asked:
                segments.enqueue(session, segment)

    def _resume_dropped(self) -> None:
        """Resume segments of this worker that no thread runs.

        Require two consecutive polls: a segment that is starting or ending looks dropped for one poll.
        """
        if time.monotonic() - self._asked_at < _ASK_S:
            return
        self._asked_at = time.monotonic()
        dropped = self._engine.dropped()
        for workflow, queue in dropped.items():
            if workflow in self._dropped:
                self._resume(workflow, queue)
        self._dropped = frozenset(dropped)

    def _resume(self, workflow: str, queue: str | None = None) -> None:
        """Enqueue a segment again, on its machine's queue unless `queue` is given; cancel a closed one."""
        with self._store.write() as session:
            segment = segments.named(session, self._org, workflow)
            if queue is None and segment is not None and fleet.is_fleets(session, segment):
                # A worker that has joined the fleet takes it over.
                return
            is_open = segment is not None and segments.release(session, segment)
            if segment is not None and queue is None:
                queue = self._engine.home(session, segment)
        if is_open and queue is not None:
            self._engine.resume(workflow, queue=queue)
        else:
            self._engine.cancel(workflow)

    def _sweep(self) -> None:
        """Take over the segments of workers whose lease expired; once per own heartbeat.

        A worker that wakes may start more segments before it learns that it was given up, so this repeats.
        """
        if self._lease is None or self._lease.sign == self._swept:
            return
        self._swept = self._lease.sign
        with self._store.read() as session:
            before = workers.earlier(session.now, self._lease.times.lost_s)
            lost = workers.gone(session, self._org, before=before)
        for worker in lost:
            left = self._engine.left_by([worker])
            if not left:
                continue
            with self._store.write() as session:
                is_lost = workers.give_up(session, self._org, worker, before=before)
            for workflow in left if is_lost else ():
                if self._taking is None or not self._taking.take_over(workflow, worker):
                    self._resume(workflow)
