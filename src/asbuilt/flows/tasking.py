"""Plan or research a task: status first, an agent that only reads, its result judged, and the postflight.

The one rule: after the agent has ended, nothing here can start one, run a command or touch a source file. The
postflight has the ledger, the mover of branches and the text that was handed in, and nothing else.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from asbuilt.errors import (
    AsbuiltError,
    GateStopped,
    GitFailed,
    LandingRefused,
    PlanChanged,
    PlanInvalid,
    PlanUnreadable,
    PlanUnwritable,
)
from asbuilt.flows.briefing import overall_s, program_of, within
from asbuilt.flows.moving import Mover
from asbuilt.flows.record import ACTOR, say
from asbuilt.flows.showing import are_committed, finish, found_at, found_here, rendered, write_here
from asbuilt.flows.starting import claim, is_agreed
from asbuilt.flows.troubles import trouble_in
from asbuilt.git import candidates, commits, workspaces
from asbuilt.git.repository import tip
from asbuilt.journal import memory
from asbuilt.journal.events import shortened
from asbuilt.ledger import tasks
from asbuilt.lifecycle import moves
from asbuilt.lifecycle.memory import ranked
from asbuilt.lifecycle.tasks.course import FINISHED, preflight, settled
from asbuilt.lifecycle.tasks.delegating import RECALLED, prompt, read_order
from asbuilt.lifecycle.tasks.failures import failure
from asbuilt.lifecycle.tasks.model import Artifact, Pending, workable
from asbuilt.lifecycle.tasks.numbering import PLAN
from asbuilt.lifecycle.tasks.results import Finished, Unfinished, handed_in, progress_in, read_result
from asbuilt.lifecycle.tasks.state_json import STATE
from asbuilt.lifecycle.team import agent_of
from asbuilt.ports import Brief

if TYPE_CHECKING:
    from asbuilt.flows.moving import Refusal
    from asbuilt.flows.record import Record
    from asbuilt.flows.working import Working
    from asbuilt.git.repository import Repository
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Session
    from asbuilt.lifecycle.facts import AttemptFacts, RunFacts
    from asbuilt.lifecycle.tasks.delegating import Order
    from asbuilt.ports import Workspace

_LANE: Final = "plan"
_UNWRITTEN: Final = (GateStopped, PlanChanged, PlanInvalid, PlanUnreadable, PlanUnwritable)
"""Why views are left as they are: edited by hand, understood by half, or not to be written."""
_WHY: Final = 500
_TITLES: Final = 8
_SUBJECTS: Final = {PLAN: "create implementation plan"}
_SUBJECT: Final = "create research report"


class Tasking:
    """Everything that work on a task does to the world outside."""

    def __init__(self, home: Home, working: Working) -> None:
        self._home = home
        self._working = working

    def perform(
        self, record: Record, repository: Repository, facts: RunFacts, move: moves.Move, *, ring: str
    ) -> None:
        """Perform one move of it."""
        match move:
            case moves.Start():
                _start(record, repository, ring)
            case moves.Attempt():
                self._attempt(record, repository, facts, move)
            case moves.Judge(stage=stage, number=number):
                _judge(record, facts, stage, number)
            case moves.Post():
                _post(record, facts)
            case moves.Land():
                _land(record, repository, facts, self._home.runs / record.run.run)
            case moves.Tidy():
                self._tidy(record, repository, facts)
            case _:
                raise ValueError(move)

    def _workspace(self, record: Record, repository: Repository, facts: RunFacts) -> Workspace:
        run = record.run
        return workspaces.make(repository, self._home.workspaces / run.repo, run.run, _LANE, facts.base or "")

    def _attempt(self, record: Record, repository: Repository, facts: RunFacts, move: moves.Attempt) -> None:
        """Let an agent read and write its answer; the workspace is mounted read-only."""
        run, order = record.run, _order(record.run)
        workspace = self._workspace(record, repository, facts)
        with record.store.read() as session:
            task = tasks.every(session, run.org, run.repo)[order.number]
            known = [] if order.clean else _recalled(session, run, f"{task.description} {task.kind}")
        script = run.options.get("script")
        brief = Brief(
            attempt=f"{run.run}.{move.phase}.{move.number}",
            role="plan",
            agent=agent_of(run.options, "plan"),
            program=within(program_of(run.options, "plan"), facts),
            workspace=workspace.path,
            writable=False,
            phase=move.phase,
            title=f"task {order.number}",
            ask=prompt(order, task, _session_of(run), known),
            overall_s=min(order.timeout_s, overall_s(record, facts)),
            script=Path(script) if script else None,
            ring_required=record.told("started").get("ring") != "none",
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

    def _tidy(self, record: Record, repository: Repository, facts: RunFacts) -> None:
        """Remove what nobody needs any more; where something is in its way, `clean` says so later."""
        with suppress(LandingRefused, GitFailed):
            workspaces.remove(repository, self._workspace(record, repository, facts))
        candidates.let_go(repository, record.run.run)
        record.say("landing.tidied", "tidied", kept_in_all=0)


def _order(run: Run) -> Order:
    return read_order(run.options["task"])


def _session_of(run: Run) -> str:
    """Name the session of a run, as commits and records of tasks do."""
    return f"sess_{int(datetime.fromisoformat(run.at).timestamp())}_{run.run[-6:]}"


def _command(order: Order) -> str:
    return f"asbuilt task {order.operation} {order.number}"


def _recalled(session: Session, run: Run, about: str) -> list[str]:
    """Give the few memories that have a word in common with a task."""
    known = memory.every(session, run.org, run.repo)
    return [one.text for weight, one in ranked(known, about=about)[:RECALLED] if weight > 0]


def _start(record: Record, repository: Repository, ring: str) -> None:
    """Take the task: its status says so before any agent is there, in the breath that starts the run."""
    run, order = record.run, _order(record.run)
    branch = run.options["branch"]
    base = tip(repository, f"refs/heads/{branch}")
    if base is None:
        raise GateStopped(
            f"there is no commit on {branch}",
            why="Agents plan in a checkout of what is committed.",
            next_step="Commit something, then plan again.",
        )
    author = commits.author_of(repository)
    claim(record)
    agreed = is_agreed(record, "ring/none/")
    outline = {"phases": {order.operation: ()}, "titles": {order.operation: f"Task {order.number}"}}
    kept = record.blobs.put(json.dumps(outline).encode())
    at = datetime.fromisoformat(run.at).astimezone(author.at.tzinfo).isoformat()
    with record.store.write() as session:
        workable(tasks.every(session, run.org, run.repo), order.number)
        pending = Pending(_session_of(run), run.run, order.operation, order.reason, session.now)
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
            session, run, "run.started", "started", base=base, ring=ring, ring_agreed=agreed, outline=kept,
            author=[author.name, author.email, at], session_id=pending.session,
        )  # fmt: skip


def _judge(record: Record, facts: RunFacts, stage: str, number: int) -> None:
    """Read what was handed in; what cannot be used is written down as an error of the task."""
    run, order = record.run, _order(record.run)
    attempt = next(one for one in facts.phases[stage].attempts if one.number == number)
    found = _result(record, order, attempt)
    about: dict[str, Any] = {"phase": stage, "number": number, "task": order.number}
    if isinstance(found, Finished):
        record.say(
            "task.judged", f"{stage}/judged", **about, outcome=FINISHED, path=order.path,
            text=record.blobs.put(found.text.encode()), summary=found.artifact.summary,
            phases=[shortened(one, 80) for one in found.phases[:_TITLES]], count=len(found.phases),
            hours=found.hours, warnings=len(found.warnings),
        )  # fmt: skip
        return
    with record.store.write() as session:
        _fail(session, run, found.cause, found.why, checkpoint="result")
        why = shortened(found.why, _WHY)
        say(session, run, "task.judged", f"{stage}/judged", **about, outcome=found.status, why=why)


def _result(record: Record, order: Order, attempt: AttemptFacts) -> Finished | Unfinished:
    said = json.loads(record.blobs.get(attempt.output))[0] if attempt.output else ""
    if attempt.ending == "done":
        return read_result(said, operation=order.operation, path=order.path)
    far = progress_in(handed_in(said)) if order.operation == PLAN else ""
    if attempt.ending == "timed_out":
        return Unfinished("partial", f"its agent ran out of {order.timeout_s} seconds{far}", "timeout")
    return Unfinished("failed", f"its agent {attempt.ending}: {attempt.reason}{far}", "agent_lost")


def _fail(session: Session, run: Run, kind: str, message: str, *, checkpoint: str) -> None:
    order = _order(run)
    error = failure(
        kind, message, task=order.number, session=_session_of(run), checkpoint=checkpoint,
        command=_command(order), at=session.now,
    )  # fmt: skip
    key = f"{run.run}/failed/{checkpoint}"
    tasks.fail(session, run.org, run.repo, order.number, error=error, key=key, actor=ACTOR)


def _post(record: Record, facts: RunFacts) -> None:
    """Settle the task in the ledger: status, link and counter in one transaction."""
    run, order = record.run, _order(record.run)
    told = record.told(f"{order.operation}/judged")
    artifact = Artifact(order.operation, facts.task.path, told["summary"])
    with record.store.write() as session:
        task = tasks.every(session, run.org, run.repo)[order.number]
        after = tasks.change(
            session,
            run.org,
            run.repo,
            order.number,
            changes=settled(task, order, artifact),
            key=f"{run.run}/postflight",
            actor=ACTOR,
        )
        say(session, run, "task.posted", "posted", task=order.number, status=after.status)


@dataclass(frozen=True, slots=True)
class _Told:
    """A run for its mover: a commit that could not be made is an error of the task, too, and not fatal."""

    record: Record

    def say(self, kind: str, key: str, **data: object) -> None:
        with self.record.store.write() as session:
            if kind == "landing.refused":
                _fail(session, self.record.run, "commit_refused", str(data["what"]), checkpoint="commit")
            say(session, self.record.run, kind, key, **data)

    def hold(self) -> None:
        self.record.hold()


@dataclass(frozen=True, slots=True)
class _Files:
    """What a task brings to its branch: its artifact, and the two views where they may be committed."""

    record: Record
    repository: Repository
    order: Order

    def build(self, onto: str, *, sign: bool) -> candidates.Candidate | Refusal:
        """Put the files onto a tip, as one commit that holds nothing else."""
        run, order = self.record.run, self.order
        text = self.record.told(f"{order.operation}/judged")["text"]
        message = commits.message_for(
            f"task {order.number}: {_SUBJECTS.get(order.operation, _SUBJECT)}",
            Session=_session_of(run),
            Asbuilt_Run=run.run,
        )
        files = {order.path: self.record.blobs.get(text), **self._views(onto)}
        edit = candidates.Edit(files=files, message=message, by=self.record.author())
        bare = candidates.Candidate(onto=onto, tip=onto, commits=())
        return candidates.add_files(self.repository, bare, edit, run=run.run, sign=sign)

    def _views(self, onto: str) -> dict[str, bytes]:
        run = self.record.run
        found, checkout = found_at(self.repository, onto), Path(run.options["checkout"])
        if found_here(checkout).todo != found.todo or not are_committed(self.repository, checkout, found):
            return {}
        try:
            with self.record.store.read() as session:
                pair = rendered(session, run.org, run.repo, found)
        except _UNWRITTEN as error:
            _leave(self.record, error)
            return {}
        return {STATE: pair.state or b"", found.todo: pair.todo or b""}

    def refusal(self, candidate: candidates.Candidate) -> Refusal | None:
        """Prove nothing: a plan promises, and no check is run after its agent has ended."""
        del candidate
        return None

    def details(self, candidate: candidates.Candidate) -> str:
        """Keep that no phase has landed with it."""
        del candidate
        return self.record.blobs.put(json.dumps({"commits": [], "marks": False}).encode())


def _write_in_place(record: Record, checkout: Path) -> None:
    try:
        write_here(record.store, record.run.org, record.run.repo, checkout)
    except _UNWRITTEN as error:
        _leave(record, error)


def _leave(record: Record, error: AsbuiltError) -> None:
    """Leave views as people have edited them; the task is settled all the same."""
    with record.store.write() as session:
        _fail(session, record.run, "views_left", error.what, checkpoint="views")


def _land(record: Record, repository: Repository, facts: RunFacts, room: Path) -> None:
    """Commit the files of the task, and write views in place that cannot be committed."""
    run, order = record.run, _order(record.run)
    told = _Told(record)
    checkout = Path(run.options["checkout"])
    record.hold()
    try:
        finish(record.store, run.org, run.repo)
        if not are_committed(repository, checkout, found_here(checkout)):
            _write_in_place(record, checkout)
        Mover(repository, run=run.run, branch=run.options["branch"], room=room, record=told).land(
            _Files(record, repository, order),
            cut_off=facts.intent if facts.landing == "intended" else None,
            sign=run.options.get("sign", "auto") == "auto" and commits.signs(repository),
            again="asbuilt task export",
        )
    except AsbuiltError as error:
        if trouble_in(error) is not None:
            raise
        told.say("landing.refused", "refused", what=error.what, why=error.why, next=error.next_step)
