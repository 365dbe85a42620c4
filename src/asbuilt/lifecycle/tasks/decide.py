"""Choose the next move of a run that works on a task. Pure and total.

Rule: once an agent has submitted a finished result, only the rest of the postflight follows: no agent, no
check, and no stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from asbuilt.events.authoring import TaskJudged, TaskPosted
from asbuilt.lifecycle.run.decide import kept_back
from asbuilt.lifecycle.run.facts import GOES_ON
from asbuilt.lifecycle.run.fold import fold_run, take_options
from asbuilt.lifecycle.run.landing import hear_landing
from asbuilt.lifecycle.run.moves import Attempt, End, Judge, Land, Move, Post, Start, Tidy
from asbuilt.lifecycle.run.preparation import held
from asbuilt.lifecycle.run.stoppages import capped, stage_stoppage
from asbuilt.lifecycle.tasks.facts import TaskFacts, TaskRunFacts
from asbuilt.lifecycle.tasks.numbering import PLAN, RESEARCH, next_after
from asbuilt.lifecycle.tasks.statuses import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunOptions, TaskOrder
    from asbuilt.lifecycle.run.facts import PhaseFacts
    from asbuilt.lifecycle.tasks.model import Artifact, Pending, Task

REPEATS: Final = 2
"""Maximum restarts of an agent that was lost (a stall, a crash)."""
FINISHED: Final = "finished"
UNDER_WAY: Final = {PLAN: Status.PLANNING, RESEARCH: Status.RESEARCHING}
SETTLED: Final = {PLAN: Status.PLANNED, RESEARCH: Status.RESEARCHED}
_HASH: Final = 7
_KEY_PHASES: Final = 4


def next_move(facts: TaskRunFacts, now: str) -> Move:
    """Choose the next move of a run that works on a task."""
    return kept_back(facts, now) or _tasking(facts, now)


def _tasking(facts: TaskRunFacts, now: str) -> Move:
    if not facts.started:
        return Start()
    if facts.task.outcome == FINISHED:
        return _postflight(facts)
    stage = next(iter(facts.phases.values()))
    last = stage.attempts[-1] if stage.attempts else None
    if last is not None and last.ending is None:
        return Attempt(stage.id, last.number, PLAN)
    if facts.stop is not None:
        return End("stopped", f"{facts.stop}; {_stays(facts)}", _again(facts))
    if facts.task.outcome is not None:
        return End("failed", f"{facts.task.why}; {_stays(facts)}", _again(facts))
    return held(facts) or _work(facts, stage, now)


def preflight(order: TaskOrder, pending: Pending) -> dict[str, Any]:
    """Return the changes before an agent starts, so that the task shows as in progress."""
    return {"status": UNDER_WAY[order.operation], "session": pending.session, "pending": pending}


def settled(task: Task, order: TaskOrder, artifact: Artifact) -> dict[str, Any]:
    """Return the changes when the work is done: status, link and counter. A status set by a user stays.

    A plan replaces the plans before it; research is added.
    """
    others = [one for one in task.artifacts if one.path != artifact.path]
    if order.operation == PLAN:
        others = [one for one in others if one.type != PLAN]
    is_ours = task.status is UNDER_WAY[order.operation]
    return {
        "artifacts": (*others, artifact),
        "next_artifact": next_after(task, order.operation, order.artifact_number),
        "pending": None,
        **({"status": SETTLED[order.operation]} if is_ours else {}),
    }


def fold_task(run: str, options: RunOptions, entries: Iterable[Entry]) -> TaskRunFacts:
    """Fold the events of one run that works on a task, in order."""
    order = options.task
    task = TaskFacts(order.number, order.operation) if order else TaskFacts()
    facts = TaskRunFacts(run, task=task)
    take_options(facts, options)
    return fold_run(facts, entries, _hear)


def _hear(facts: TaskRunFacts, entry: Entry) -> None:
    task, event = facts.task, entry.event
    hear_landing(facts.landing, event)
    match event:
        case TaskJudged():
            task.outcome, task.why = event.outcome, event.why
            task.phases, task.hours = event.phases, event.hours
            task.count, task.path = event.count, event.path
            if task.outcome == FINISHED:
                facts.done_before |= {event.phase}
        case TaskPosted():
            task.posted, task.status = True, event.status
        case _:
            pass


def _work(facts: TaskRunFacts, stage: PhaseFacts, now: str) -> Move:
    last = stage.attempts[-1] if stage.attempts else None
    if last is None:
        return capped(facts, now) or Attempt(stage.id, 1, PLAN)
    stoppage = stage_stoppage(facts, stage, now)
    if stoppage is not None:
        return stoppage
    if last.ending in ("done", "timed_out") or stage.repeats > REPEATS:
        return Judge(stage.id, last.number)
    number = last.number + (last.ending not in GOES_ON)
    return capped(facts, now) or Attempt(stage.id, number, PLAN)


def _postflight(facts: TaskRunFacts) -> Move:
    if not facts.task.posted:
        return Post()
    if facts.landing.state in (None, "intended"):
        return Land()
    if not facts.landing.tidied:
        return Tidy()
    return End("done", _summary(facts), facts.landing.next_step if facts.landing.state == "refused" else "")


def _summary(facts: TaskRunFacts) -> str:
    """Summarize the result in one sentence."""
    task = facts.task
    if task.operation == PLAN:
        named = ", ".join(task.phases[:_KEY_PHASES]) + (" and more" if task.count > _KEY_PHASES else "")
        hours = "" if task.hours is None else f", {task.hours:g} hours estimated"
        phases = f"{task.count} phase{'' if task.count == 1 else 's'}"
        told = [f"task {task.number} has a plan: {phases}{hours}", f"key phases: {named}"]
    else:
        told = [f"task {task.number} has a research report"]
    told += [f"it is {task.path}", f"status {Status(task.status).mark}"]
    if facts.landing.state == "refused":
        told.append(f"not committed: {facts.landing.reason}")
    else:
        told.append(f"committed as {(facts.landing.tip or '')[:_HASH]} on {facts.branch}")
    return "; ".join(told)


def _stays(facts: TaskRunFacts) -> str:
    task = facts.task
    mark = UNDER_WAY[task.operation].mark if task.operation in UNDER_WAY else ""
    return f"task {task.number} stays {mark}."


def _again(facts: TaskRunFacts) -> str:
    return f"asbuilt task {facts.task.operation} {facts.task.number}"
