"""Facts of a run that works on a numbered task, folded from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, field

from asbuilt.lifecycle.run.facts import PhaseFacts, RunFacts
from asbuilt.lifecycle.run.landing import LandingState

if TYPE_CHECKING:
    from asbuilt.events.options import RunKind


class TaskFacts(Struct):
    """Facts of the task and its result."""

    number: int = 0
    operation: str = ""
    """plan, or research."""
    outcome: str | None = None
    """finished, partial, failed or blocked, once the submission is judged."""
    why: str = ""
    phases: tuple[str, ...] = ()
    """Titles of the first phases of its plan."""
    count: int = 0
    hours: float | None = None
    path: str = ""
    posted: bool = False
    """The result is in the ledger."""
    status: str = ""
    """Status of the task after that."""


class TaskRunFacts(RunFacts):
    """A run that plans or researches a task."""

    kind: ClassVar[RunKind] = "task"
    plans: ClassVar[bool] = True
    task: TaskFacts = field(default_factory=TaskFacts)
    landing: LandingState = field(default_factory=LandingState)
    """The commit of its artifact and of the ledger's views."""

    @property
    def current(self) -> PhaseFacts | None:
        """Its only stage."""
        return next(iter(self.phases.values()), None)

    @property
    def is_landing(self) -> bool:
        """Whether the commit has started and is not recorded as finished."""
        return self.landing.state == "intended"
