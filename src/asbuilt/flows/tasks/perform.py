"""Plan or research a task: set its status, run an agent that only reads, judge its result, then postflight.

Rule: an agent runs only between the start and the judgement; `flows.tasks.postflight` does the rest.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import UNSET
from msgspec.structs import replace

from asbuilt.errors import GitFailed, NotLanded
from asbuilt.events.authoring import TaskJudged
from asbuilt.events.landings import LandingTidied
from asbuilt.events.questions import SandboxKey
from asbuilt.events.runs import RunStarted
from asbuilt.flows.checks.outside_changes import need_unchanged
from asbuilt.flows.run.briefs import planner_brief
from asbuilt.flows.run.record import ACTOR, Record, append_event
from asbuilt.flows.run_start import claim, is_agreed
from asbuilt.flows.tasks.postflight import fail, land, post, session_of
from asbuilt.git import commits
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, base_on
from asbuilt.git.workspace import workspaces
from asbuilt.journal import memory
from asbuilt.journal.events import shortened
from asbuilt.ledger import tasks
from asbuilt.lifecycle.memory import recall_for_task
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.tasks.facts import FINISHED, TaskRunFacts
from asbuilt.lifecycle.tasks.model import Changes, Pending
from asbuilt.lifecycle.tasks.numbering import ROADMAP
from asbuilt.lifecycle.tasks.planner_context import prompt
from asbuilt.lifecycle.tasks.results import Finished, cut_short, read_result, read_written
from asbuilt.lifecycle.tasks.statuses import UNDER_WAY
from asbuilt.lifecycle.tasks.transitions import workable

if TYPE_CHECKING:
    from asbuilt.flows.attempts.work import Working
    from asbuilt.flows.context import Context

_LANE: Final = "plan"
_WHY: Final = 500
_TITLES: Final = 8


def perform(context: Context, working: Working, facts: TaskRunFacts, move: moves.Move) -> None:
    """Perform one move of a task run."""
    record, repository = context.record, context.repository
    match move:
        case moves.Start():
            _start(record, repository, context.processes.level)
        case moves.Attempt():
            _attempt(context, working, facts, move)
        case moves.Judge(stage=stage, number=number):
            _judge(record, facts, stage, number)
        case moves.Post():
            post(record)
        case moves.Land():
            land(record, repository, facts, context.room)
        case moves.Tidy():
            _tidy(context, facts)
        case _:
            raise ValueError(move)


def _attempt(context: Context, working: Working, facts: TaskRunFacts, move: moves.Attempt) -> None:
    """Run an agent that reads and submits its answer; the workspace is read-only."""
    record, run, order = context.record, context.record.run, context.record.run.options.ordered
    workspace = context.workspace(_LANE, facts.base or "")
    with record.store.read() as session:
        task = tasks.every(session, run.org, run.repo)[order.number]
        known = [] if order.clean else memory.every(session, run.org, run.repo)
    recalled = recall_for_task(known, description=task.description, kind=task.kind)
    memories = [lesson.text for lesson in recalled]
    brief = planner_brief(
        record,
        workspace,
        facts,
        attempt=f"{run.run}.{move.phase}.{move.number}",
        role="plan",
        phase=move.phase,
        title=f"task {order.number}",
        ask=prompt(order, task, session_of(run), memories, has_roadmap=(workspace.path / ROADMAP).is_file()),
    )
    brief = replace(brief, overall_s=min(order.timeout_s, brief.overall_s))
    working.converse(record, facts, move, [brief])
    if not brief.ring_required:
        need_unchanged(context.repository, workspace, facts.base or "")


def _tidy(context: Context, facts: TaskRunFacts) -> None:
    """Remove the workspace and the candidate. If the removal fails, `clean` reports it later."""
    with suppress(NotLanded, GitFailed):
        workspaces.remove(context.repository, context.workspace(_LANE, facts.base or ""))
    candidates.let_go(context.repository, context.record.run.run)
    context.record.append(LandingTidied(kept_in_all=0), "tidied")


def _judge(record: Record, facts: TaskRunFacts, stage: str, number: int) -> None:
    run, order = record.run, record.run.options.ordered
    if order.written is UNSET:
        attempt = next(earlier for earlier in facts.phases[stage].attempts if earlier.number == number)
        output = record.blobs.get_json(attempt.output)[0] if attempt.output else ""
        if attempt.ending == "done":
            found = read_result(output, operation=order.operation, path=order.path)
        else:
            found = cut_short(attempt, output, order)
    else:
        found = read_written(order.written, operation=order.operation, path=order.path)
    judged = TaskJudged(phase=stage, number=number, task=order.number, outcome=FINISHED)
    if isinstance(found, Finished):
        record.append(
            replace(
                judged,
                path=order.path,
                text=record.blobs.put(found.text.encode()),
                summary=found.artifact.summary,
                phases=[shortened(phase, 80) for phase in found.phases[:_TITLES]],
                count=len(found.phases),
                hours=found.hours,
                warnings=len(found.warnings),
            ),
            f"{stage}/judged",
        )
        return
    with record.store.write() as session:
        fail(session, run, found.cause, found.why, checkpoint="result")
        why = shortened(found.why, _WHY)
        append_event(session, run, replace(judged, outcome=found.status, why=why), f"{stage}/judged")


def _start(record: Record, repository: Repository, level: str) -> None:
    """Start the run and set the task's status in one transaction, before any agent runs."""
    run, order = record.run, record.run.options.ordered
    branch = run.options.branch
    base = base_on(repository, branch)
    author = commits.author_of(repository)
    claim(record)
    agreed = is_agreed(record, SandboxKey())
    outline = {"phases": {order.operation: ()}, "titles": {order.operation: f"Task {order.number}"}}
    kept = record.blobs.put_json(outline)
    at = datetime.fromisoformat(run.at).astimezone(author.at.tzinfo).isoformat()
    with record.store.write() as session:
        tasks.hold(session, run.org, run.repo)
        workable(tasks.every(session, run.org, run.repo), order.number)
        pending = Pending(session_of(run), run.run, order.operation, order.reason, session.now)
        changes = Changes(status=UNDER_WAY[order.operation], session=pending.session, pending=pending)
        key = f"{run.run}/preflight"
        tasks.change(session, run.org, run.repo, order.number, changes=changes, key=key, actor=ACTOR)
        by = (author.name, author.email, at)
        started = RunStarted(base=base, ring=level, ring_agreed=agreed, outline=kept, author=by)
        append_event(session, run, replace(started, session_id=pending.session), "started")
