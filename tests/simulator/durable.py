"""The engine as a model, and workers that use it.

The one rule: a step is done at least once and its answer is kept once, and only the worker that has begun a
segment goes on with it.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from asbuilt.errors import AsbuiltError, StoreFailed
from asbuilt.flows.engine.dbos import Engine, State
from asbuilt.flows.engine.lease import Lease, Times
from asbuilt.flows.engine.worker import Worker
from asbuilt.journal.ids import LOCAL
from tests.simulator.stage import Process, Unlawful

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from asbuilt.flows.engine.dbos import Performs
    from asbuilt.flows.segment import Runs
    from tests.simulator.ledger import Ledger
    from tests.simulator.stage import Stage

_SLOTS: Final = 2
_LOOK_S: Final = 10.0
"""Who waits for less only looks again; who waits for longer does something then."""
TIMES: Final = Times(beat_s=60.0, stop_s=180.0, lost_s=240.0)
"""As the shipped ones to each other, and rarer."""
Answer = TypeVar("Answer")


class Broken(BaseException):
    """The engine could not write down how a step went: its thread is gone, and nothing else."""


class Cancelled(Exception):
    """The engine has given a segment up."""


@dataclass(slots=True)
class Workflow:
    """A segment as the engine knows it."""

    id: str
    arguments: tuple[str, str, str, int]
    executor: str
    status: str = "PENDING"
    error: str = ""
    answers: dict[int, str | Exception] = field(default_factory=dict)


@dataclass(slots=True)
class Going:
    """How far a thread has come in a segment."""

    workflow: Workflow
    steps: int = 0


class Durable:
    """What all engines share: their database."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.workflows: dict[str, Workflow] = {}
        self.recorded: Callable[[], None] = lambda: None
        self.acted: Callable[[int, Process], None] = lambda _step, _process: None
        """Called after each step has acted, before its answer is kept."""
        self._steps = 0
        self.is_broken = False
        """The next answer cannot be kept."""

    def step(self, name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
        """Do a step, or give the answer that was kept of it."""
        actor = self.stage.current
        assert actor is not None
        going: Going = actor.memory
        going.steps += 1
        workflow, number = going.workflow, going.steps
        self.stage.point()
        if number not in workflow.answers:
            self.stage.tell(f"{workflow.id} {name}")
            answer = self._done(act, *arguments)
            self._steps += 1
            assert actor.process is not None
            self.acted(self._steps, actor.process)
            self.stage.point()
            if self.is_broken:
                self.is_broken = False
                raise Broken
            if workflow.status != "PENDING":
                raise Cancelled(workflow.status)
            workflow.answers[number] = answer
            self.recorded()
            self.stage.point()
        kept = workflow.answers[number]
        if isinstance(kept, Exception):
            raise kept
        said: Answer = json.loads(kept)
        return said

    @staticmethod
    def _done(act: Callable[..., Answer], *arguments: object) -> str | Exception:
        try:
            return json.dumps(act(*arguments))
        except Exception as error:  # noqa: BLE001 - the engine keeps whatever a step raises
            return error


class ModelEngine(Engine):
    """The engine of one worker."""

    def __init__(self, durable: Durable, process: Process, *, is_shared: bool) -> None:
        url = "shared" if is_shared else None
        super().__init__(folder=Path("/nowhere"), url=url, worker=process.name, slots=_SLOTS)
        self._durable = durable
        self._process = process
        self._go_through: Performs
        self._ended: Callable[[], object]

    def launch(self, segment: Performs, *, ended: Callable[[], object] = lambda: None) -> None:
        """Start serving; what this worker left behind goes on by itself."""
        self._go_through, self._ended = segment, ended
        for workflow in self._durable.workflows.values():
            if (workflow.status, workflow.executor) == ("PENDING", self.worker):
                self._start(workflow)

    def begin(self, workflow: str, arguments: tuple[str, str, str, int]) -> None:
        """Go through a segment; begun again under its id, nothing changes."""
        self._durable.stage.point()
        if workflow not in self._durable.workflows:
            made = self._durable.workflows[workflow] = Workflow(workflow, arguments, self.worker)
            self._start(made)
        self._durable.stage.point()

    def states(self, workflows: Iterable[str]) -> dict[str, State]:
        """Tell how segments stand."""
        wanted = [*workflows]
        self._durable.stage.point()
        return {one: self._state_of(self._durable.workflows.get(one)) for one in wanted}

    def _state_of(self, known: Workflow | None) -> State:
        if known is None:
            return State.UNKNOWN
        if known.status != "PENDING":
            return State.OVER
        if known.executor != self.worker:
            return State.ELSEWHERE
        return State.HERE if known.id in self._at_work else State.DROPPED

    def why_over(self, workflow: str) -> str:
        """Say how a segment ended."""
        found = self._durable.workflows[workflow]
        return f"{found.status}, {found.error}" if found.error else found.status

    def _start(self, workflow: Workflow) -> None:
        self._at_work.add(workflow.id)
        actor = self._durable.stage.enter(
            f"{self.worker}/{workflow.id}", self._process, lambda: self._go(workflow)
        )
        actor.memory = Going(workflow)

    def _go(self, workflow: Workflow) -> None:
        stage = self._durable.stage
        try:
            self._go_through(*workflow.arguments)
        except Broken:
            stage.tell(f"{workflow.id} is dropped")
        except Cancelled as error:
            stage.tell(f"{workflow.id} was given up: {error}")
        except AsbuiltError as error:
            workflow.status, workflow.error = "ERROR", repr(error)
            stage.tell(f"{workflow.id} breaks: {error!r}")
        except Exception as error:
            # The engine keeps it as any other, and the run would end in a decent way: nobody would see a bug.
            raise Unlawful(f"{workflow.id} breaks off by what nobody has foreseen: {error!r}") from error
        else:
            workflow.status = "SUCCESS"
        self._at_work.discard(workflow.id)
        self._ended()


class Site(Process):
    """A worker process: its engine, its runs, its look at the journal."""

    def __init__(self, name: str, stage: Stage, again: Callable[[], None]) -> None:
        super().__init__(name)
        self._stage = stage
        self._again = again

    def serve(self, durable: Durable, ledger: Ledger, runs: Runs, lease: Lease | None) -> None:
        """Begin to serve."""
        engine = ModelEngine(durable, self, is_shared=lease is not None)
        worker = Worker(ledger, engine, runs, org=LOCAL, lease=lease)
        self._stage.enter(self.name, self, lambda: self._attend(worker))

    def _attend(self, worker: Worker) -> None:
        try:
            worker.serve(Looks(self._stage))
        except StoreFailed as error:
            # As any program does that finds no database; who looks after services starts it again.
            self._stage.tell(f"worker {self.name} ends: {error}")
            self.dead = True
            self._stage.later(30.0, self._again)


class Looks(threading.Event):
    """An end that may come; waiting for it takes the world's time."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a while."""
        seconds = timeout or 0.0
        if not self.is_set():
            self._stage.sleep(seconds, polls=seconds < _LOOK_S)
        return self.is_set()


class Thread:
    """A thread of a process, as an actor."""

    def __init__(
        self,
        stage: Callable[[], Stage],
        *,
        target: Callable[..., None],
        args: tuple[object, ...],
        daemon: bool,
    ) -> None:
        assert daemon
        self._stage = stage()
        self._act = partial(target, *args)

    def start(self) -> None:
        """Begin, in the process of whoever begins it; what beats by the clock is no news to anybody."""
        current = self._stage.current
        assert current is not None
        actor = self._stage.enter(f"{current.name}/beat", current.process, self._act)
        actor.is_clockwork = True
