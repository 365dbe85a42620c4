"""Plan or research a task: set its status, run an agent that only reads, judge its result, then postflight.

Rule: an agent runs only between the start and the judgement; `flows.tasks.postflight` does the rest.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace as evolve

from asbuilt.errors import GitFailed, NotLanded
from asbuilt.events.authoring import TaskJudged
from asbuilt.events.landings import LandingTidied
from asbuilt.events.questions import RingKey
from asbuilt.events.runs import RunStarted
from asbuilt.flows.checks.outside_changes import need_unchanged
from asbuilt.flows.run.briefs import planner_brief
from asbuilt.flows.run.record import ACTOR, Record, say
from asbuilt.flows.start import claim, is_agreed
from asbuilt.flows.tasks.views import fail, land, order_of, post, session_of
from asbuilt.git import commits
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, base_on
from asbuilt.git.workspace import workspaces
from asbuilt.journal import memory
from asbuilt.journal.events import shortened
from asbuilt.ledger import tasks
from asbuilt.lifecycle.memory import ranked
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.tasks.decide import FINISHED, TaskRunFacts
from asbuilt.lifecycle.tasks.delegating import RECALLED, preflight, prompt
from asbuilt.lifecycle.tasks.model import Pending, workable
from asbuilt.lifecycle.tasks.numbering import PLAN
from asbuilt.lifecycle.tasks.results import Finished, Unfinished, handed_in, progress_in, read_result

if TYPE_CHECKING:
    from asbuilt.events.options import TaskOrder
    from asbuilt.flows.attempts.work import Working
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.run.facts import AttemptFacts
    from asbuilt.ports import Workspace

_LANE: Final = "plan"
_WHY: Final = 500
_TITLES: Final = 8


class Tasking:
    """Performs the moves of a task run."""

    def __init__(self, home: Home, working: Working) -> None:
        self._home = home
        self._working = working

    def perform(
        self, record: Record, repository: Repository, facts: TaskRunFacts, move: moves.Move, *, ring: str
    ) -> None:
        """Perform one move of a task run."""
        match move:
            case moves.Start():
                _start(record, repository, ring)
            case moves.Attempt():
                self._attempt(record, repository, facts, move)
            case moves.Judge(stage=stage, number=number):
                _judge(record, facts, stage, number)
            case moves.Post():
                post(record)
            case moves.Land():
                land(record, repository, facts, self._home.runs / record.run.run)
            case moves.Tidy():
                self._tidy(record, repository, facts)
            case _:
                raise ValueError(move)

    def _workspace(self, record: Record, repository: Repository, facts: TaskRunFacts) -> Workspace:
        run = record.run
        root = self._home.workspaces / run.repo
        lane = workspaces.lane_folder(root / run.run, run.name, _LANE)
        return workspaces.make(repository, root, run.run, lane, facts.base or "")

    def _attempt(
        self, record: Record, repository: Repository, facts: TaskRunFacts, move: moves.Attempt
    ) -> None:
        """Run an agent that reads and submits its answer; the workspace is read-only."""
        run, order = record.run, order_of(record.run)
        workspace = self._workspace(record, repository, facts)
        with record.store.read() as session:
            task = tasks.every(session, run.org, run.repo)[order.number]
            known = [] if order.clean else _recalled(session, run, f"{task.description} {task.kind}")
        brief = planner_brief(
            record,
            workspace,
            facts,
            attempt=f"{run.run}.{move.phase}.{move.number}",
            role="plan",
            phase=move.phase,
            title=f"task {order.number}",
            ask=prompt(order, task, session_of(run), known),
        )
        brief = replace(brief, overall_s=min(order.timeout_s, brief.overall_s))
        self._working.converse(record, facts, move, [brief])
        if not brief.ring_required:
            need_unchanged(repository, workspace, facts.base or "")

    def _tidy(self, record: Record, repository: Repository, facts: TaskRunFacts) -> None:
        """Remove the workspace and the candidate. If the removal fails, `clean` reports it later."""
        with suppress(NotLanded, GitFailed):
            workspaces.remove(repository, self._workspace(record, repository, facts))
        candidates.let_go(repository, record.run.run)
        record.say(LandingTidied(kept_in_all=0), "tidied")


def _recalled(session: Session, run: Run, about: str) -> list[str]:
    """Return the memories that share a word with a task, best first."""
    known = memory.every(session, run.org, run.repo)
    return [one.text for weight, one in ranked(known, about=about)[:RECALLED] if weight > 0]


def _start(record: Record, repository: Repository, ring: str) -> None:
    """Start the run and set the task's status in one transaction, before any agent runs."""
    run, order = record.run, order_of(record.run)
    branch = run.options.branch
    base = base_on(repository, branch)
    author = commits.author_of(repository)
    claim(record)
    agreed = is_agreed(record, RingKey())
    outline = {"phases": {order.operation: ()}, "titles": {order.operation: f"Task {order.number}"}}
    kept = record.blobs.put_json(outline)
    at = datetime.fromisoformat(run.at).astimezone(author.at.tzinfo).isoformat()
    with record.store.write() as session:
        tasks.hold(session, run.org, run.repo)
        workable(tasks.every(session, run.org, run.repo), order.number)
        pending = Pending(session_of(run), run.run, order.operation, order.reason, session.now)
        changes, key = preflight(order, pending), f"{run.run}/preflight"
        tasks.change(session, run.org, run.repo, order.number, changes=changes, key=key, actor=ACTOR)
        by = (author.name, author.email, at)
        started = RunStarted(base=base, ring=ring, ring_agreed=agreed, outline=kept, author=by)
        say(session, run, evolve(started, session_id=pending.session), "started")


def _judge(record: Record, facts: TaskRunFacts, stage: str, number: int) -> None:
    """Read the submitted result; record an unusable one as an error of the task."""
    run, order = record.run, order_of(record.run)
    attempt = next(one for one in facts.phases[stage].attempts if one.number == number)
    found = _result(record, order, attempt)
    judged = TaskJudged(phase=stage, number=number, task=order.number, outcome=FINISHED)
    if isinstance(found, Finished):
        record.say(
            evolve(
                judged,
                path=order.path,
                text=record.blobs.put(found.text.encode()),
                summary=found.artifact.summary,
                phases=[shortened(one, 80) for one in found.phases[:_TITLES]],
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
        say(session, run, evolve(judged, outcome=found.status, why=why), f"{stage}/judged")


def _result(record: Record, order: TaskOrder, attempt: AttemptFacts) -> Finished | Unfinished:
    said = record.blobs.get_json(attempt.output)[0] if attempt.output else ""
    if attempt.ending == "done":
        return read_result(said, operation=order.operation, path=order.path)
    far = progress_in(handed_in(said)) if order.operation == PLAN else ""
    if attempt.ending == "timed_out":
        return Unfinished("partial", f"its agent ran out of {order.timeout_s} seconds{far}", "timeout")
    return Unfinished("failed", f"its agent {attempt.ending}: {attempt.reason}{far}", "agent_lost")
