"""Facts and next move of a run that works on a numbered task. Pure and total.

Rule: after a finished result the run only does its postflight. It starts no agent and no check, and ignores a
stop.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import UNSET, field

from asbuilt.events.authoring import TaskJudged, TaskPosted
from asbuilt.events.options import value_or
from asbuilt.events.runs import reason_words
from asbuilt.lifecycle.run.facts import RESUMABLE, PhaseFacts, RunFacts
from asbuilt.lifecycle.run.guards import kept_back
from asbuilt.lifecycle.run.landing_state import LandingState, fold_landing
from asbuilt.lifecycle.run.moves import Attempt, End, Judge, Land, Move, Post, Start, Tidy
from asbuilt.lifecycle.run.preflight import held
from asbuilt.lifecycle.run.stoppages import capped, stage_stoppage
from asbuilt.lifecycle.tasks.statuses import PLAN, UNDER_WAY, Status

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunKind, RunOptions

REPEATS: Final = 2
"""Maximum restarts of an agent that was lost (a stall, a crash)."""
FINISHED: Final = "finished"
_HASH: Final = 7
_KEY_PHASES: Final = 4


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


def next_move(facts: TaskRunFacts, now: str) -> Move:
    """Choose the next move of a run that works on a task."""
    return kept_back(facts, now) or _tasking(facts, now)


def _tasking(facts: TaskRunFacts, now: str) -> Move:
    if not facts.started:
        return Start()
    judged = facts.judged
    if judged is not None and judged.outcome == FINISHED:
        return _postflight(facts, judged)
    stage = next(iter(facts.phases.values()))
    last = stage.attempts[-1] if stage.attempts else None
    if last is not None and last.ending is None:
        return Attempt(stage.id, last.number, PLAN)
    if facts.stop is not None:
        return End("stopped", f"{reason_words(facts.stop)}; {_stays(facts)}", _again(facts))
    if judged is not None:
        return End("failed", f"{judged.why}; {_stays(facts)}", _again(facts))
    return Judge(stage.id, 0) if facts.is_written else held(facts) or _work(facts, stage, now)


def _work(facts: TaskRunFacts, stage: PhaseFacts, now: str) -> Move:
    last = stage.attempts[-1] if stage.attempts else None
    if last is None:
        return capped(facts, now) or Attempt(stage.id, 1, PLAN)
    stoppage = stage_stoppage(facts, stage)
    if stoppage is not None:
        return stoppage
    if last.ending in ("done", "timed_out") or stage.repeats > REPEATS:
        return Judge(stage.id, last.number)
    number = last.number + (last.ending not in RESUMABLE)
    return capped(facts, now) or Attempt(stage.id, number, PLAN)


def _postflight(facts: TaskRunFacts, judged: TaskJudged) -> Move:
    if not facts.status:
        return Post()
    if facts.landing.state in (None, "intended"):
        return Land()
    if not facts.landing.tidied:
        return Tidy()
    is_refused = facts.landing.state == "refused"
    return End("done", _summary(facts, judged), facts.landing.next_step if is_refused else "")


def _summary(facts: TaskRunFacts, judged: TaskJudged) -> str:
    if facts.operation == PLAN:
        more = " and more" if judged.count > _KEY_PHASES else ""
        hours = "" if judged.hours is None else f", {judged.hours:g} hours estimated"
        phases = f"{judged.count} phase{'' if judged.count == 1 else 's'}"
        named = f"key phases: {', '.join(judged.phases[:_KEY_PHASES])}{more}"
        lines = [f"task {facts.task} has a plan: {phases}{hours}", named]
    else:
        lines = [f"task {facts.task} has a research report"]
    lines += [f"file: {judged.path}", f"status {Status(facts.status).mark}"]
    if facts.landing.state == "refused":
        lines.append(f"not committed: {facts.landing.reason}")
    else:
        lines.append(f"committed as {(facts.landing.tip or '')[:_HASH]} on {facts.branch}")
    return "; ".join(lines)


def _stays(facts: TaskRunFacts) -> str:
    mark = UNDER_WAY[facts.operation].mark if facts.operation in UNDER_WAY else ""
    return f"task {facts.task} stays {mark}."


def _again(facts: TaskRunFacts) -> str:
    return f"`asbuilt task {facts.operation} {facts.task}{facts.chosen}`"
