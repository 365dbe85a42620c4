"""Next move of a run that works on a numbered task. Pure and total.

Rule: after a finished result the run only does its postflight. It starts no agent and no check, and ignores a
stop.
"""

from __future__ import annotations

from typing import Final

from asbuilt.events.runs import reason_words
from asbuilt.lifecycle.run.facts import RESUMABLE, PhaseFacts
from asbuilt.lifecycle.run.guards import kept_back
from asbuilt.lifecycle.run.moves import Attempt, End, Judge, Move, Start
from asbuilt.lifecycle.run.preflight import held
from asbuilt.lifecycle.run.stoppages import capped, stage_stoppage
from asbuilt.lifecycle.tasks.facts import FINISHED, TaskRunFacts
from asbuilt.lifecycle.tasks.postflight import postflight
from asbuilt.lifecycle.tasks.statuses import PLAN, UNDER_WAY

REPEATS: Final = 2
"""Maximum restarts of an agent that was lost (a stall, a crash)."""


def next_move(facts: TaskRunFacts, now: str) -> Move:
    """Choose the next move of a run that works on a task."""
    return kept_back(facts, now) or _tasking(facts, now)


def _tasking(facts: TaskRunFacts, now: str) -> Move:
    if not facts.started:
        return Start()
    judged = facts.judged
    if judged is not None and judged.outcome == FINISHED:
        return postflight(facts, judged)
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


def _stays(facts: TaskRunFacts) -> str:
    mark = UNDER_WAY[facts.operation].mark if facts.operation in UNDER_WAY else ""
    return f"task {facts.task} stays {mark}."


def _again(facts: TaskRunFacts) -> str:
    return f"`asbuilt task {facts.operation} {facts.task}{facts.chosen}`"
