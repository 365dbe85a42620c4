"""The kinds of run, and what performs the moves of each."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from msgspec import UNSET

from asbuilt.errors import AsbuiltError
from asbuilt.flows.attempts.hosts import Hosts
from asbuilt.flows.attempts.work import Working
from asbuilt.flows.authoring import perform as authoring
from asbuilt.flows.cleanup import remove_finished
from asbuilt.flows.context import Context
from asbuilt.flows.delivery import perform as delivery
from asbuilt.flows.engine.fence import Fenced, Signals
from asbuilt.flows.fleet.membership import Openings
from asbuilt.flows.plan_run import perform as plan_run
from asbuilt.flows.report import report
from asbuilt.flows.run.record import Record
from asbuilt.flows.tasks import perform as tasks
from asbuilt.flows.verification import verify_run
from asbuilt.git.fleet import SharedRefs, open_mirror
from asbuilt.git.locks import heal_left
from asbuilt.git.repository import Repository, open_repository
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.home import Home
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.authoring.facts import AuthoringFacts
from asbuilt.lifecycle.kinds import Facts
from asbuilt.lifecycle.land_run import LandingFacts
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run.moves import Move
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.tasks.facts import TaskRunFacts
from asbuilt.lifecycle.undo import UndoFacts
from asbuilt.lifecycle.verify_run import VerificationFacts
from asbuilt.ports import Attempts, Processes

if TYPE_CHECKING:
    from asbuilt.flows.engine.lease import Lease
    from asbuilt.journal.database.store import Store


class Performer:
    """Performs the moves of every kind of run."""

    def __init__(  # noqa: PLR0913 - everything outside
        self,
        home: Home,
        store: Store,
        blobs: Blobs,
        attempts: Attempts,
        processes: Processes,
        *,
        awake: Callable[[], AbstractContextManager[object]] = nullcontext,
        lease: Lease | None = None,
    ) -> None:
        """Keep the parts; `awake` keeps the machine awake while an agent works.

        On a shared database, agents work only while the `lease` is renewed.
        """
        self.home = home
        self.signals = Signals()
        self._store = store
        self._blobs = blobs
        self._processes = processes
        self._openings = Openings(home, os.environ)
        hosts = Hosts(attempts, awake, self.signals, lease)
        self._working = Working(hosts, home.runs, home.path / "setups")

    def perform(self, run: Run, facts: Facts, move: Move, fenced: Fenced) -> None:
        """Perform one move; its events are written only while the segment is this worker's."""
        repository = self._opened(run)
        shared: SharedRefs | None = None
        if run.options.fleet is not UNSET:
            run, shared = self._openings.open(run, run.options.fleet, repository, fenced)
        # A move that was cut off may leave its work done, and the lock of the git that did it.
        heal_left(repository)
        record = Record(run=run, store=fenced, blobs=self._blobs, shared=shared)
        context = Context(record, repository, self.home, self._processes, self.signals)
        match facts:
            case PlanFacts():
                plan_run.perform(context, self._working, facts, move)
            case LandingFacts() | UndoFacts():
                delivery.perform(context, self._working, facts, move)
            case VerificationFacts():
                verify_run.perform(context, facts, move)
            case AuthoringFacts():
                authoring.perform(context, self._working, facts, move)
            case TaskRunFacts():
                tasks.perform(context, self._working, facts, move)
            case _:
                assert_never(facts)

    def remove_workspaces(self, run: Run) -> None:
        """Remove workspaces that finished runs of a plan left, if nothing is lost; `clean` lists the rest."""
        with suppress(AsbuiltError, OSError):
            remove_finished(self._opened(run), self._store, self.home.workspaces / run.repo, run)

    def _opened(self, run: Run) -> Repository:
        if run.options.fleet is not UNSET:
            return open_mirror(self.home.path / "mirrors", run.repo, run.options.fleet.remote)
        return open_repository(Path(run.options.checkout), agreed=run.options.programs or ())

    def report(self, run: Run, facts: ProvingFacts, now: str = "") -> str:
        """Write the report of a run as it is now; returns its digest."""
        record = Record(run=run, store=self._store, blobs=self._blobs)
        return report(record, facts, self.home, now)
