"""Plan or research a task: set its status, run an agent that only reads, judge its result, then postflight.

Rule: an agent runs only between the start and the judgement; `flows.tasks.postflight` does the rest.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace as evolve

from asbuilt.errors import GateStopped, GitFailed, NotLanded
from asbuilt.events.authoring import TaskJudged
from asbuilt.events.landings import LandingTidied
from asbuilt.events.questions import RingKey
from asbuilt.events.runs import RunStarted
from asbuilt.flows.run.briefs import opened, overall_s, program_of, within
from asbuilt.flows.run.record import ACTOR, say
from asbuilt.flows.start import claim, is_agreed
from asbuilt.flows.tasks.postflight import fail, land, order_of, post, session_of
from asbuilt.git import commits
from asbuilt.git.landing import candidates
from asbuilt.git.repository import base_on
from asbuilt.git.workspace import workspaces
from asbuilt.journal import memory
from asbuilt.journal.events import shortened
from asbuilt.ledger import tasks
from asbuilt.lifecycle.memory import ranked
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.team import agent_of
from asbuilt.lifecycle.tasks.decide import FINISHED, preflight
from asbuilt.lifecycle.tasks.delegating import RECALLED, prompt
from asbuilt.lifecycle.tasks.model import Pending, workable
from asbuilt.lifecycle.tasks.numbering import PLAN
from asbuilt.lifecycle.tasks.results import Finished, Unfinished, handed_in, progress_in, read_result
from asbuilt.ports import Brief

if TYPE_CHECKING:
    from asbuilt.events.options import TaskOrder
    from asbuilt.flows.attempts.work import Working
    from asbuilt.flows.run.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.run.facts import AttemptFacts
    from asbuilt.lifecycle.tasks.facts import TaskRunFacts
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
                post(record, facts)
            case moves.Land():
                land(record, repository, facts, self._home.runs / record.run.run)
            case moves.Tidy():
                self._tidy(record, repository, facts)
            case _:
                raise ValueError(move)

    def _workspace(self, record: Record, repository: Repository, facts: TaskRunFacts) -> Workspace:
        run = record.run
        return workspaces.make(repository, self._home.workspaces / run.repo, run.run, _LANE, facts.base or "")

    def _attempt(
        self, record: Record, repository: Repository, facts: TaskRunFacts, move: moves.Attempt
    ) -> None:
        """Run an agent that reads and submits its answer; the workspace is read-only."""
        run, order = record.run, order_of(record.run)
        workspace = self._workspace(record, repository, facts)
        with record.store.read() as session:
            task = tasks.every(session, run.org, run.repo)[order.number]
            known = [] if order.clean else _recalled(session, run, f"{task.description} {task.kind}")
        script = run.options.script
        brief = Brief(
            attempt=f"{run.run}.{move.phase}.{move.number}",
            role="plan",
            agent=agent_of(run.options, "plan"),
            program=within(program_of(run.options, "plan"), facts),
            workspace=workspace.path,
            writable=False,
            phase=move.phase,
            title=f"task {order.number}",
            ask=prompt(order, task, session_of(run), known),
            overall_s=min(order.timeout_s, overall_s(record, facts)),
            script=Path(script) if script else None,
            ring_required=record.told(RunStarted, "started").ring != "none",
            opened=opened(run.options),
        )
        self._working.converse(record, facts, move, [brief])
        if not brief.ring_required:
            base = repository.git.line("rev-parse", f"{facts.base}^{{tree}}")
            wrote = workspaces.written_in(repository, workspace, base)
            if wrote:
                raise GateStopped(
                    f"an agent that plans has changed {wrote[0]} in its workspace",
                    why="Planning is read-only, and here no ring holds it: what it handed in is not used.",
                    next_step="`asbuilt doctor` says what helps; then plan again.",
                )

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
    kept = record.blobs.put(json.dumps(outline).encode())
    at = datetime.fromisoformat(run.at).astimezone(author.at.tzinfo).isoformat()
    with record.store.write() as session:
        tasks.hold(session, run.org, run.repo)
        workable(tasks.every(session, run.org, run.repo), order.number)
        pending = Pending(session_of(run), run.run, order.operation, order.reason, session.now)
        tasks.change(
            session,
            run.org,
            run.repo,
            order.number,
            changes=preflight(order, pending),
            key=f"{run.run}/preflight",
            actor=ACTOR,
        )
        say(
            session,
            run,
            RunStarted(
                base=base,
                ring=ring,
                ring_agreed=agreed,
                outline=kept,
                author=(author.name, author.email, at),
                session_id=pending.session,
            ),
            "started",
        )


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
    said = json.loads(record.blobs.get(attempt.output))[0] if attempt.output else ""
    if attempt.ending == "done":
        return read_result(said, operation=order.operation, path=order.path)
    far = progress_in(handed_in(said)) if order.operation == PLAN else ""
    if attempt.ending == "timed_out":
        return Unfinished("partial", f"its agent ran out of {order.timeout_s} seconds{far}", "timeout")
    return Unfinished("failed", f"its agent {attempt.ending}: {attempt.reason}{far}", "agent_lost")
