"""The engine as a model, and workers that use it.

The one rule: a step is done at least once and its answer is kept once. Whoever comes second with an answer is
told so and stops, as an executor does whose work another one has taken over.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from asbuilt.flows.engine import Engine
from asbuilt.flows.worker import Worker
from asbuilt.journal.ids import LOCAL
from tests.simulator.stage import Killed, Process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from asbuilt.flows.run import Runs
    from tests.simulator.ledger import Ledger
    from tests.simulator.stage import Actor, Stage

_SLOTS: Final = 2
_NEVER: Final = 1e10
Answer = TypeVar("Answer")


class Superseded(Exception):
    """Another executor has kept an answer for this step."""


@dataclass(slots=True)
class Workflow:
    """A segment as the engine knows it."""

    id: str
    arguments: tuple[str, str, str, int]
    status: str
    due: float
    executor: str = ""
    error: str = ""
    answers: dict[int, str | Exception] = field(default_factory=dict)


@dataclass(slots=True)
class Going:
    """How far an executor has come in a segment."""

    workflow: Workflow
    steps: int = 0


class Durable:
    """What all engines share: their database."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.workflows: dict[str, Workflow] = {}
        self.recorded: Callable[[], None] = lambda: None

    def wake(self, workflow: Workflow) -> None:
        """Let a segment begin when its time has come by the clock on the wall."""
        wall = self.stage.now + self.stage.skew
        if workflow.status == "DELAYED" and workflow.due <= wall:
            workflow.status = "ENQUEUED"
            self.stage.changes += 1
        elif workflow.status == "DELAYED" and workflow.due < _NEVER:
            self.stage.later(workflow.due - wall, lambda: self.wake(workflow))

    def set_clock(self, forward_s: float) -> None:
        """Set the clock on the wall forward."""
        self.stage.skew += forward_s
        for workflow in self.workflows.values():
            self.wake(workflow)

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
            self.stage.point()
            if number in workflow.answers or self.workflows.get(workflow.id) is not workflow:
                raise Superseded(name)
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

    def __init__(self, durable: Durable, worker: str) -> None:
        super().__init__(folder=Path("/nowhere"), url=None, worker=worker, slots=_SLOTS)
        self._durable = durable

    def enqueue(self, workflow: str, arguments: tuple[str, str, str, int], *, delay_s: float) -> None:
        """Tell the engine of a segment; told again, nothing changes."""
        stage = self._durable.stage
        stage.point()
        if workflow in self._durable.workflows:
            return
        due = stage.now + stage.skew + delay_s
        made = Workflow(workflow, arguments, "DELAYED", due)
        self._durable.workflows[workflow] = made
        self._durable.wake(made)
        stage.point()

    def hasten(self, workflow: str) -> None:
        """Let a segment that waits begin at once."""
        self._durable.stage.point()
        found = self._durable.workflows.get(workflow)
        if found is not None and found.status == "DELAYED":
            found.due = 0.0
            self._durable.wake(found)

    def states(self, workflows: Iterable[str]) -> dict[str, str]:
        """Tell the state of those segments that the engine knows."""
        wanted = [*workflows]
        self._durable.stage.point()
        known = self._durable.workflows
        return {one: known[one].status for one in wanted if one in known}

    def why_over(self, workflow: str) -> str:
        """Say how a segment ended."""
        found = self._durable.workflows[workflow]
        return f"{found.status}, {found.error}"

    def take_over(self, worker: str) -> int:
        """Resume what another worker left."""
        left = [one for one in self._durable.workflows.values() if _is_of(one, worker)]
        for workflow in left:
            workflow.status = "ENQUEUED"
        return len(left)


class Site(Process):
    """A worker process: its engine, its runs, its look at the journal."""

    def __init__(self, name: str, durable: Durable, ledger: Ledger, runs: Runs) -> None:
        super().__init__(name)
        self._durable = durable
        self._runs = runs
        self._stage = durable.stage
        self.engine = ModelEngine(durable, name)
        self._worker = Worker(ledger, self.engine, org=LOCAL, lost=runs.lost)

    def start(self) -> None:
        """Begin to serve; what this worker left behind goes on by itself."""
        self.engine.take_over(self.name)
        self._stage.enter(f"{self.name}", self, lambda: self._worker.serve(Looks(self._stage)))

    @property
    def free(self) -> int:
        """How many segments it could take."""
        if self.dead or self.frozen:
            return 0
        return _SLOTS - sum(one.process is self and one.memory is not None for one in self._stage.actors)

    def take(self, workflow: Workflow) -> Actor:
        """Begin to go through a segment."""
        workflow.status, workflow.executor = "PENDING", self.name
        actor = self._stage.enter(f"{self.name}/{workflow.id}", self, lambda: self._go(workflow))
        actor.memory = Going(workflow)
        return actor

    def _go(self, workflow: Workflow) -> None:
        try:
            self._runs.segment(*workflow.arguments)
        except Superseded as error:
            self._stage.tell(f"{workflow.id} is another's: {error}")
        except Killed:
            raise
        except Exception as error:  # noqa: BLE001 - the engine keeps whatever a segment raises
            workflow.status, workflow.error = "ERROR", repr(error)
            self._stage.tell(f"{workflow.id} breaks: {error!r}")
        else:
            workflow.status = "SUCCESS"


class Looks(threading.Event):
    """An end that never comes; waiting for it takes the world's time."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until something has happened."""
        self._stage.sleep(timeout or 0.0, polls=True)
        return False


def dispatch(durable: Durable, sites: Iterable[Site]) -> None:
    """Give what is due to workers that have room."""
    due = [one for one in durable.workflows.values() if one.status == "ENQUEUED"]
    for workflow in due:
        site = max(sites, key=lambda one: one.free, default=None)
        if site is None or site.free <= 0:
            return
        site.take(workflow)


def _is_of(workflow: Workflow, worker: str) -> bool:
    return workflow.status == "PENDING" and workflow.executor == worker
