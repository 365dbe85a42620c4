"""The engine as a model, and workers that use it.

The one rule: a step is done at least once and its answer is kept once, and only the answers of the newest
execution of a segment are kept.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from asbuilt.errors import AsbuiltError, StoreFailed
from asbuilt.flows.engine.dbos import Engine
from asbuilt.flows.engine.fence import Superseded
from asbuilt.flows.engine.lease import Lease, Times
from asbuilt.flows.engine.worker import Worker
from asbuilt.journal.ids import LOCAL, Segment
from tests.simulator.stage import Process, Unlawful

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from asbuilt.flows.engine.dbos import Flow
    from asbuilt.flows.segment import Runs
    from asbuilt.journal.database.store import Store
    from tests.simulator.ledger import Ledger
    from tests.simulator.stage import Stage

QUEUE: Final = "runs"
_SLOTS: Final = 2
_POLL_S: Final = 0.2
_LOOK_S: Final = 10.0
"""Who waits for less only looks again; who waits for longer does something then."""
TIMES: Final = Times(heartbeat_s=60.0, stop_s=180.0, lost_s=240.0)
"""As the shipped ones to each other, and rarer."""
Answer = TypeVar("Answer")


class Broken(BaseException):
    """The engine could not write down how a step went: its thread is gone, and nothing else."""


class Parked(BaseException):
    """The engine has another execution of a segment, or has given it up: this one ends."""


@dataclass(slots=True)
class Workflow:
    """A segment as the engine knows it."""

    id: str
    arguments: tuple[str, str, str, int]
    queue: str
    due_at: str
    status: str = "ENQUEUED"
    executor: str = ""
    owner: int = 0
    """The number of the execution whose answers are kept."""
    answers: dict[int, str | Exception] = field(default_factory=dict)


@dataclass(slots=True)
class Going:
    """How far a thread has come in a segment."""

    workflow: Workflow
    owner: int
    steps: int = 0
    token: int | None = None
    """The token under which it began in the journal."""

    @property
    def is_owner(self) -> bool:
        """Tell whether the engine still keeps what this execution does."""
        return self.workflow.status == "PENDING" and self.workflow.owner == self.owner


class Durable:
    """What all engines share: their tables."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.workflows: dict[str, Workflow] = {}
        self.recorded: Callable[[], None] = lambda: None
        self.acted: Callable[[int, Process], None] = lambda _step, _process: None
        """Called after each step has acted, before its answer is kept."""
        self._steps = 0
        self.is_broken = False
        """The next answer cannot be kept."""

    def enqueue(self, segment: Segment) -> None:
        """Take a segment from a transaction that was committed; one that is known is not changed."""
        queue = QUEUE if segment.executor in (None, LOCAL) else f"{QUEUE}@{segment.executor}"
        made = Workflow(segment.workflow, segment[:4], queue, segment.due_at)
        self.workflows.setdefault(segment.workflow, made)

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
            if not going.is_owner:
                raise Parked(workflow.status)
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

    def __init__(self, durable: Durable, process: Process, store: Store, *, is_shared: bool) -> None:
        url = "shared" if is_shared else None
        super().__init__(store, url=url, worker=process.name if is_shared else LOCAL, slots=_SLOTS)
        self._durable = durable
        self._process = process
        self._flow: Flow
        self._ended: Callable[[], object]

    def launch(self, flow: Flow, *, ended: Callable[[], object] = lambda: None) -> None:
        """Start serving; what this worker left behind is enqueued again."""
        self._flow, self._ended = flow, ended
        for workflow in self._durable.workflows.values():
            if (workflow.status, workflow.executor) == ("PENDING", self.worker):
                workflow.status = "ENQUEUED"
        self._durable.stage.enter(f"{self.worker}/queue", self._process, self._poll)

    def pace(self) -> None:
        """Poll as often as ever."""

    def prepare(self, asked: Sequence[Segment], now: str) -> None:
        """End delays that are over, and forget what ended without closing its segment."""
        self._durable.stage.point()
        for segment in asked:
            known = self._durable.workflows.get(segment.workflow)
            if known is not None and known.status in ("SUCCESS", "CANCELLED"):
                del self._durable.workflows[segment.workflow]
            elif known is not None and known.status == "ENQUEUED" and segment.due_at <= now:
                known.due_at = segment.due_at
        self._durable.stage.point()

    def dropped(self) -> dict[str, str]:
        """Return what is said to run here, and does not."""
        self._durable.stage.point()
        mine = self._of("PENDING", lambda one: one.executor == self.worker)
        return {one.id: one.queue for one in mine if self._at_work[one.id] <= 0}

    def left_by(self, workers: Collection[str]) -> dict[str, str]:
        """Return what workers have begun, or what waits for them."""
        self._durable.stage.point()
        begun = self._of("PENDING", lambda one: one.executor in workers)
        waiting = self._of("ENQUEUED", lambda one: one.queue in [f"{QUEUE}@{name}" for name in workers])
        now = self._durable.stage.at
        return {one.id: one.queue for one in (*begun, *(one for one in waiting if one.due_at <= now))}

    def resume(self, workflow: str, *, queue: str, left_by: str) -> None:
        """Enqueue something again that a worker left, unless another one runs it by now."""
        self._durable.stage.point()
        known = self._durable.workflows.get(workflow)
        if known is not None and known.status == "PENDING" and known.executor != left_by:
            return
        if known is not None and known.status != "SUCCESS":
            known.status, known.queue, known.owner = "ENQUEUED", queue, known.owner + 1
        self._durable.stage.change()
        self._durable.stage.point()

    def cancel(self, workflow: str) -> None:
        """Give something up."""
        self._durable.stage.point()
        known = self._durable.workflows.get(workflow)
        if known is not None and known.status != "SUCCESS":
            known.status = "CANCELLED"

    def _of(self, status: str, true: Callable[[Workflow], bool]) -> list[Workflow]:
        return [one for one in self._durable.workflows.values() if one.status == status and true(one)]

    def _poll(self) -> None:
        looks = Looks(self._durable.stage)
        while True:
            self._dequeue()
            looks.wait(_POLL_S)

    def _dequeue(self) -> None:
        stage, queues = self._durable.stage, (QUEUE, f"{QUEUE}@{self.worker}")
        stage.point()
        due = self._of("ENQUEUED", lambda one: one.queue in queues and one.due_at <= stage.at)
        for workflow in due[: max(0, _SLOTS - self._at_work.total())]:
            workflow.status, workflow.executor = "PENDING", self.worker
            workflow.owner += 1
            self._at_work[workflow.id] += 1
            name, owner = f"{self.worker}/{workflow.id}", workflow.owner
            actor = stage.enter(name, self._process, partial(self._go, Going(workflow, owner)))
            actor.memory = Going(workflow, owner)
            stage.change()

    def _go(self, going: Going) -> None:
        stage, workflow = self._durable.stage, going.workflow
        try:
            self._performed(workflow)
        except (Broken, Parked, Superseded, StoreFailed) as error:
            stage.tell(f"{workflow.id} is dropped: {error!r}")
        except Exception as error:
            # The engine would go on with the next segment: nobody would see a bug.
            raise Unlawful(f"{workflow.id} breaks off by what nobody has foreseen: {error!r}") from error
        else:
            if going.is_owner:
                workflow.status = "SUCCESS"
        self._at_work[workflow.id] -= 1
        stage.change()
        self._ended()

    def _performed(self, workflow: Workflow) -> None:
        try:
            self._flow.segment(*workflow.arguments)
        except AsbuiltError as error:
            self._durable.stage.tell(f"{workflow.id} breaks: {error!r}")
            self._flow.lost(Segment(*workflow.arguments, "", "", self.worker), repr(error))


class Site(Process):
    """A worker process: its engine, its runs, its look at the journal."""

    def __init__(self, name: str, stage: Stage, again: Callable[[], None]) -> None:
        super().__init__(name)
        self._stage = stage
        self._again = again

    def serve(self, durable: Durable, ledger: Ledger, runs: Runs, lease: Lease | None) -> None:
        """Begin to serve."""
        engine = ModelEngine(durable, self, ledger, is_shared=lease is not None)
        worker = Worker(ledger, engine, runs, org=LOCAL, lease=lease)
        self._stage.enter(self.name, self, lambda: self._attend(worker))

    def _attend(self, worker: Worker) -> None:
        try:
            worker.serve(Looks(self._stage))
            self._end("it was given up", 1.0)
        except StoreFailed as error:
            # As any program does that finds no database; who looks after services starts it again.
            self._end(str(error), 30.0)

    def _end(self, why: str, after_s: float) -> None:
        self._stage.tell(f"worker {self.name} ends: {why}")
        self.dead = True
        self._stage.later(after_s, self._again)


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
