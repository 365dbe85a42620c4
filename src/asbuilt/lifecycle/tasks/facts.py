"""Facts of a run that works on a numbered task, folded from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from asbuilt.lifecycle.run.facts import PhaseFacts, RunFacts
from asbuilt.lifecycle.run.landing import LandingState

if TYPE_CHECKING:
    from asbuilt.events.authoring import TaskJudged
    from asbuilt.events.options import RunKind


class TaskRunFacts(RunFacts):
    """A run that plans or researches a task."""

    kind: ClassVar[RunKind] = "task"
    plans: ClassVar[bool] = True
    task: int = 0
    operation: str = ""
    """plan, or research."""
    judged: TaskJudged | None = None
    """Its result, once the submission is judged."""
    status: str = ""
    """Status of the task once the result is in the ledger."""
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
