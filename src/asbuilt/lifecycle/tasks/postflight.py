"""What follows a finished result of a task: the next move, and the last sentence. Pure.

Rule: no move here starts an agent or a check. `results.settled`, what the task itself gets, is apart because
a command that only looks loads this module, and not the model of tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.lifecycle.run.moves import End, Land, Move, Post, Tidy
from asbuilt.lifecycle.tasks.statuses import PLAN, Status

if TYPE_CHECKING:
    from asbuilt.events.authoring import TaskJudged
    from asbuilt.lifecycle.tasks.facts import TaskRunFacts

_HASH: Final = 7
_KEY_PHASES: Final = 4


def postflight(facts: TaskRunFacts, judged: TaskJudged) -> Move:
    """Choose the next move once the result is finished."""
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
