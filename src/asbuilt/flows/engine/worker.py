"""The worker: lets the engine run segments, and enqueues those that commands asked for.

Rule: a poll reads only requested segments. A run that waits costs no query.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.errors import JournalDamaged, StoreFailed
from asbuilt.journal import runs
from asbuilt.journal.engine import fleet, segments, workers

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Engine, Flow
    from asbuilt.flows.engine.fleet_claims import Taking
    from asbuilt.flows.engine.lease import Lease
    from asbuilt.flows.schedule import Schedules
    from asbuilt.journal.database.store import Store

LOOK_S: Final = 0.2
LOOK_SHARED_S: Final = 2.0
"""Poll interval on a database that many workers share; a new request wakes them."""
_QUIET_S: Final = 1.0
"""Poll interval while no process writes to the journal's file."""
_END_S: Final = 0.5
"""Most seconds until a worker notices that it has to end."""
_ASK_S: Final = 4.0
"""Interval between queries of the engine for segments that it lists as running and no thread runs."""


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


@dataclass
class Worker:
    """Serves the runs of one user: enqueues, fires schedules, passes on stops, replaces lost workers."""

    store: Store
    engine: Engine
    flow: Flow
    _: KW_ONLY
    org: str
    lease: Lease | None = None
    """None: it is the only worker of its database."""
    machine: str | None = None
    """Limits it to one machine's repositories on a shared database."""
    schedules: Schedules | None = None
    """None: only runs that users request start."""
    taking: Taking | None = None
    """None: it takes no runs of the fleet."""
    is_needed: Callable[[], bool] = bool
    """Returns whether a background job needs the worker to stay."""
    is_outdated: Callable[[], bool] = bool
    """Returns whether another version of asbuilt was installed since the worker started."""

    def __post_init__(self) -> None:
        self._has_asked_again = False
        self._dropped: frozenset[str] = frozenset()
        self._asked_at = 0.0
        self._swept = 0
        self._poked = threading.Event()

    def wake(self) -> None:
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
        if self.lease is not None:
            # Agents continue without a worker until their hosts end them; then other workers take over.
            with suppress(StoreFailed):
                self.lease.heartbeat(draining=True)
        return False

    @property
    def _is_given_up(self) -> bool:
        return self.lease is not None and self.lease.is_given_up

    def _attend(self, ended: threading.Event, idle_s: float | None) -> None:
        busy_at = time.monotonic()
        while not ended.is_set() and not self.is_outdated() and not self._is_given_up:
            written = self.store.written_at()
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
            self._rest(ended, written)

    def look(self, *, is_last_wanted: bool = False) -> bool:
        """Enqueue what was asked for; return, if wanted, whether anything continues without user action."""
        if not self._has_asked_again:
            self._ask_again()
        with self.store.read() as session:
            now, asked = session.now, segments.asked(session, self.org, machine=self.machine)
            self.flow.signals.notify(runs.stopped(session, self.org))
            will_continue = is_last_wanted and segments.will_continue(
                session, self.org, self.engine.worker, machine=self.machine
            )
            found = self.taking.find(session) if self.taking else []
            is_schedule_due = self.schedules is not None and self.schedules.is_due(session)
            stays = is_last_wanted and self.schedules is not None and self.schedules.is_any(session)
        if self.lease is None or self.lease.is_good:
            if asked:
                self.engine.prepare(asked, now)
                with self.store.write() as session:
                    for segment in asked:
                        segments.enqueue(session, segment)
            if self.taking is not None:
                self.taking.take(found, now)
            if is_schedule_due and self.schedules is not None:
                self.schedules.fire()
            self.engine.pace()
            self._resume_dropped()
            self._sweep()
        return will_continue or stays or self.taking is not None or self.is_needed()

    def _come(self, gone: threading.Event) -> None:
        """Register before anything starts."""
        if self.lease is not None:
            self.lease.register()
            threading.Thread(target=self.lease.keep, args=(gone,), daemon=True).start()
            threading.Thread(target=self.store.listen, args=(self.wake, gone), daemon=True).start()
        self.engine.launch(self.flow, ended=self.wake)

    def _ask_again(self) -> None:
        """Ask for every segment that is due when the worker starts: the engine may not have it.

        A worker that was frozen in a transaction locks its segment until the database ends that
        transaction, so this fails meanwhile and belongs to the poll, which is repeated.
        """
        with self.store.write() as session:
            segments.ask_again(session, self.org, before=session.now)
        self._has_asked_again = True

    def _rest(self, ended: threading.Event, written: float | None) -> None:
        """Wait for the next poll, or until woken; `written` is the last write before the last poll."""
        start, every_s = time.monotonic(), LOOK_SHARED_S if self.engine.is_shared else LOOK_S
        while not ended.is_set() and not self._poked.wait(min(every_s, _END_S)):
            is_quiet = written is not None and written == self.store.written_at()
            if time.monotonic() - start >= (_QUIET_S if is_quiet else every_s):
                break
        self._poked.clear()

    def _resume_dropped(self) -> None:
        """Resume segments of this worker that no thread runs.

        Require two consecutive polls: a segment that is starting or ending looks dropped for one poll.
        """
        if time.monotonic() - self._asked_at < _ASK_S:
            return
        self._asked_at = time.monotonic()
        dropped = self.engine.dropped()
        for workflow, queue in dropped.items():
            if workflow in self._dropped:
                self._resume(workflow, self.engine.worker, queue)
        self._dropped = frozenset(dropped)

    def _resume(self, workflow: str, worker: str, queue: str | None = None) -> None:
        """Enqueue a segment that a worker left, on its machine's queue unless given; cancel a closed one."""
        with self.store.write() as session:
            if self.lease is not None and not self.lease.holds(session):
                # This worker was frozen meanwhile: another one may have the segment by now.
                return
            segment = segments.named(session, self.org, workflow)
            if queue is None and segment is not None and fleet.is_fleets(session, segment):
                # A worker that has joined the fleet takes it over.
                return
            is_open = segment is not None and segments.release(session, segment)
            if segment is not None and queue is None:
                queue = self.engine.home(session, segment)
        if is_open and queue is not None:
            self.engine.resume(workflow, queue=queue, left_by=worker)
        else:
            self.engine.cancel(workflow)

    def _sweep(self) -> None:
        """Take over the segments of workers whose lease expired; once per own heartbeat.

        A worker that wakes may start more segments before it learns that it was given up, so this repeats.
        """
        if self.lease is None or self.lease.sign == self._swept:
            return
        self._swept = self.lease.sign
        with self.store.read() as session:
            before = workers.earlier(session.now, self.lease.times.lost_s)
            lost = workers.gone(session, self.org, before=before)
        for worker in lost:
            left = self.engine.left_by([worker])
            if not left:
                continue
            with self.store.write() as session:
                is_lost = workers.give_up(session, self.org, worker, before=before)
            for workflow in left if is_lost else ():
                if self.taking is None or not self.taking.take_over(workflow, worker):
                    self._resume(workflow, worker)
