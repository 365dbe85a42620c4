"""The worker: claims due segments and runs them. If it is killed, the next worker resumes them.

Rule: it reads only what is due now. A run that waits for later costs one row and no query.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from asbuilt.errors import EngineDamaged, JournalDamaged, StoreFailed
from asbuilt.flows.engine.dbos import State
from asbuilt.journal.engine import segments, workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asbuilt.flows.engine.dbos import Engine
    from asbuilt.flows.engine.lease import Lease
    from asbuilt.flows.engine.signals import Tidings
    from asbuilt.flows.schedule import Schedules
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.engine.segments import Held
    from asbuilt.journal.runs import Segment

LOOK_S: Final = 0.2
LOOK_SHARED_S: Final = 2.0
"""Poll interval on a database that many workers share; a new request wakes them."""
_WINK_S: Final = 0.05
_ASK_S: Final = 4.0
"""Interval between queries of the engine for all held segments: a segment can be lost at any time."""


class Flow(Protocol):
    """Performs segments."""

    @property
    def tidings(self) -> Tidings:
        """The signals for threads that wait on runs."""

    def segment(self, org: str, repo: str, run: str, n: int) -> None:
        """Perform a segment."""

    def lost(self, segment: Segment, why: str) -> None:
        """Continue after a segment that the engine gave up."""

    def taken_over(self, segment: Segment) -> None:
        """Continue after a segment whose worker is gone."""


def clear(scratch: Path) -> None:
    """Empty the scratch folder, which a killed worker may have left full, and use it for temporary files.

    The caller must be the only worker: no other process may use the folder.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700, exist_ok=True)
    tempfile.tempdir = str(scratch)


class Worker:
    """Reconciles journal and engine in a loop: starts in the engine what is due in the journal."""

    def __init__(  # noqa: PLR0913 - a worker has these parts
        self,
        store: Store,
        engine: Engine,
        flow: Flow,
        *,
        org: str,
        lease: Lease | None = None,
        machine: str | None = None,
        schedules: Schedules | None = None,
        is_needed: Callable[[], bool] = lambda: False,
        is_outdated: Callable[[], bool] = lambda: False,
    ) -> None:
        """Keep the parts; without a `lease`, it is the only worker of its database.

        `machine` limits it to one machine's repositories on a shared database. Without `schedules`, only runs
        that users request start. `is_needed` returns whether a background job needs the worker to stay,
        `is_outdated` whether another version of asbuilt was installed since the worker started.
        """
        self._store = store
        self._engine = engine
        self._flow = flow
        self._org = org
        self._lease = lease
        self._machine = machine
        self._schedules = schedules
        self._is_needed = is_needed
        self._is_outdated = is_outdated
        self._begun: frozenset[str] = frozenset()
        self._dropped: frozenset[str] = frozenset()
        self._asked_at = 0.0
        self._swept = 0
        self._poked = threading.Event()

    def poke(self) -> None:
        """Poll at once: something may be due."""
        self._poked.set()

    def serve(self, ended: threading.Event, *, idle_s: float | None = None) -> None:
        """Start what is due until `ended` is set, asbuilt was upgraded, or it is idle for `idle_s`."""
        gone = threading.Event()
        try:
            self._come(gone)
            self._attend(ended, idle_s)
        finally:
            gone.set()
        if self._lease is not None:
            # Agents continue without a worker until their hosts end them; then other workers take over.
            with suppress(StoreFailed):
                self._lease.beat(draining=True)

    def _attend(self, ended: threading.Event, idle_s: float | None) -> None:
        busy_at = time.monotonic()
        while not ended.is_set() and not self._is_outdated():
            try:
                if self.look(is_last_wanted=idle_s is not None):
                    busy_at = time.monotonic()
            except (EngineDamaged, JournalDamaged):
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
        """Claim and start what is due; return, if wanted, whether anything continues without user action."""
        with self._store.read() as session:
            mine = segments.held(session, self._org, self._engine.worker)
            room = self._engine.slots - len(mine)
            takes = room > 0 and segments.is_free_due(session, self._org, machine=self._machine)
            goes_on = is_last_wanted and segments.goes_on(
                session, self._org, self._engine.worker, machine=self._machine
            )
            rings = self._schedules is not None and self._schedules.is_due(session)
            stays = is_last_wanted and self._schedules is not None and self._schedules.is_any(session)
        may_take = self._lease is None or self._lease.is_good
        if takes and may_take:
            mine = self._taken(room)
        if rings and may_take and self._schedules is not None and self._schedules.fire():
            self.poke()
        self._flow.tidings.hear(mine)
        self._begin([one.segment for one in mine])
        self._sweep()
        return goes_on or stays or self._is_needed()

    def _come(self, gone: threading.Event) -> None:
        """Register before starting anything; without a lease, adopt the segments of other worker names."""
        if self._lease is not None:
            self._lease.register()
            threading.Thread(target=self._lease.keep, args=(gone,), daemon=True).start()
            threading.Thread(target=self._store.listen, args=(self.poke, gone), daemon=True).start()
        else:
            with self._store.write() as session:
                segments.adopt(session, self._org, self._engine.worker)
        self._engine.launch(self._flow.segment, ended=self.poke)

    def _rest(self, ended: threading.Event) -> None:
        """Wait for the next poll, or until woken."""
        until = time.monotonic() + (LOOK_SHARED_S if self._engine.is_shared else LOOK_S)
        while time.monotonic() < until and not self._poked.is_set() and not ended.wait(_WINK_S):
            continue
        self._poked.clear()

    def _taken(self, room: int) -> list[Held]:
        with self._store.write() as session:
            segments.claim(session, self._org, self._engine.worker, machine=self._machine, at_most=room)
            return segments.held(session, self._org, self._engine.worker)

    def _begin(self, mine: list[Segment]) -> None:
        everything = time.monotonic() - self._asked_at >= _ASK_S
        if everything:
            self._asked_at = time.monotonic()
        begun = [segment for segment in mine if segment.workflow in self._begun]
        # More segments may be due than there are slots; the others wait.
        new = [segment for segment in mine if segment.workflow not in self._begun]
        new = new[: max(0, self._engine.slots - len(begun))]
        asked = begun + new if everything else new
        states = self._engine.states(segment.workflow for segment in asked)
        for segment in asked:
            self._go_on(segment, states[segment.workflow])
        if everything:
            self._dropped = frozenset(name for name, state in states.items() if state is State.DROPPED)
        self._begun = frozenset(segment.workflow for segment in begun + new)

    def _go_on(self, segment: Segment, state: State) -> None:
        is_begun = segment.workflow in self._begun
        match state:
            case State.UNKNOWN if not is_begun:
                self._engine.begin(segment.workflow, (segment.org, segment.repo, segment.run, segment.n))
            case State.OVER:
                # Open in the journal, over in the engine. No effect if it was closed meanwhile.
                self._flow.lost(segment, self._engine.why_over(segment.workflow))
            case State.ELSEWHERE:
                self._flow.taken_over(segment)
            case State.DROPPED if segment.workflow in self._dropped:
                # Require two consecutive polls: a segment that is starting or ending looks dropped for one
                # poll.
                self._flow.taken_over(segment)
            case State.UNKNOWN | State.HERE | State.DROPPED:
                pass

    def _sweep(self) -> None:
        """Take over the segments of workers whose lease expired; once per own heartbeat."""
        if self._lease is None or self._lease.sign == self._swept or not self._lease.is_good:
            return
        self._swept = self._lease.sign
        with self._store.read() as session:
            before = workers.earlier(session.now, self._lease.times.lost_s)
            left = segments.of_lost(session, self._org, before=before, machine=self._machine)
        for worker in dict.fromkeys(segment.worker for segment in left if segment.worker):
            with self._store.write() as session:
                is_lost = workers.give_up(session, self._org, worker, before=before)
            for segment in left if is_lost else ():
                if segment.worker == worker:
                    self._flow.taken_over(segment)
                    self.poke()
