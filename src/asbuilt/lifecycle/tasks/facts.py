"""Facts of a run that works on a numbered task, folded from its events. Pure."""

from __future__ import annotations

from shlex import quote
from typing import ClassVar, Final

from msgspec import UNSET, field

from asbuilt.events.authoring import TaskJudged, TaskPosted
from asbuilt.events.event import Entry
from asbuilt.events.options import RunKind, RunOptions, value_or
from asbuilt.lifecycle.run.facts import PhaseFacts, RunFacts
from asbuilt.lifecycle.run.landing_state import LandingState, fold_landing

FINISHED: Final = "finished"


class TaskRunFacts(RunFacts):
    """A run that plans or researches a task."""

    kind: ClassVar[RunKind] = "task"
    plans: ClassVar[bool] = True
    task: int = 0
    operation: str = ""
    """plan, or research."""
    is_written: bool = False
    """The artifact was given with the request, so no agent works."""
    chosen: str = ""
    """The options of the command line that chose the agent, as they are typed again."""
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

    def take(self, options: RunOptions) -> None:
        """Copy the options that decisions depend on."""
        super().take(options)
        if options.task:
            self.task, self.operation = options.task.number, options.task.operation
            self.is_written = options.task.written is not UNSET
        agent, script = value_or(options.named_agent, ""), options.script or ""
        chosen = (("--agent", agent), ("--script", script))
        self.chosen = "".join(f" {option} {quote(value)}" for option, value in chosen if value)

    def fold(self, entry: Entry) -> None:
        """Fold an event about the task's result and its commit."""
        event = entry.event
        fold_landing(self.landing, event)
        match event:
            case TaskJudged():
                self.judged = event
                if event.outcome == FINISHED:
                    self.done_before |= {event.phase}
            case TaskPosted():
                self.status = event.status
