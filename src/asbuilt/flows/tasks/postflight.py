"""The postflight of a task: idempotent steps after its agent has ended.

Rule: it can start neither agents nor commands (a contract of `lint-imports` enforces this). It has the
ledger, the mover of branches, and the submitted text.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.errors import (
    AsbuiltError,
    GateStopped,
    PlanChanged,
    PlanInvalid,
    PlanUnreadable,
    PlanUnwritable,
)
from asbuilt.events.authoring import TaskJudged, TaskPosted
from asbuilt.events.landings import LandingRefused
from asbuilt.flows.engine.transient import trouble_in
from asbuilt.flows.landing.move import Mover, Refusal
from asbuilt.flows.run.record import ACTOR, Record, say
from asbuilt.flows.tasks.views import are_committed, finish, found_at, found_here, rendered, write_here
from asbuilt.git import commits
from asbuilt.git.landing import candidates
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.delegating import settled
from asbuilt.lifecycle.tasks.model import Artifact, failure
from asbuilt.lifecycle.tasks.numbering import PLAN
from asbuilt.lifecycle.tasks.state_json import STATE

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from asbuilt.events.options import TaskOrder
    from asbuilt.git.repository import Repository
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.tasks.facts import TaskRunFacts

_UNWRITTEN: Final = (GateStopped, PlanChanged, PlanInvalid, PlanUnreadable, PlanUnwritable)
"""Errors that leave the views as they are: edited by hand, only partly readable, or not writable."""
_SUBJECTS: Final = {PLAN: "create implementation plan"}
_SUBJECT: Final = "create research report"


def order_of(run: Run) -> TaskOrder:
    """Return what a run was requested to do for a task."""
    return run.options.ordered


def session_of(run: Run) -> str:
    """Return the session id of a run, as commits and records of tasks use it."""
    return f"sess_{int(datetime.fromisoformat(run.at).timestamp())}_{run.run[-6:]}"


def fail(session: Session, run: Run, kind: str, message: str, *, checkpoint: str) -> None:
    """Record an error of the task of a run."""
    order = order_of(run)
    error = failure(
        kind, message, task=order.number, session=session_of(run), checkpoint=checkpoint,
        command=f"asbuilt task {order.operation} {order.number}", at=session.now,
    )  # fmt: skip
    key = f"{run.run}/failed/{checkpoint}"
    tasks.fail(session, run.org, run.repo, order.number, error=error, key=key, actor=ACTOR)


def post(record: Record) -> None:
    """Settle the task in the ledger: status, link and counter in one transaction."""
    run, order = record.run, order_of(record.run)
    told = record.told(TaskJudged, f"{order.operation}/judged")
    artifact = Artifact(order.operation, told.path, told.summary)
    with record.store.write() as session:
        tasks.hold(session, run.org, run.repo)
        task = tasks.every(session, run.org, run.repo)[order.number]
        changes, key = settled(task, order, artifact), f"{run.run}/postflight"
        after = tasks.change(session, run.org, run.repo, order.number, changes=changes, key=key, actor=ACTOR)
        say(session, run, TaskPosted(task=order.number, status=after.status), "posted")


@dataclass(frozen=True, slots=True)
class _Told:
    """A run, for its mover: a refused commit is also recorded as an error of the task, and is not fatal."""

    record: Record

    def say(self, event: Event, key: str) -> None:
        with self.record.store.write() as session:
            if isinstance(event, LandingRefused):
                fail(session, self.record.run, "commit_refused", event.what, checkpoint="commit")
            say(session, self.record.run, event, key)

    def hold(self) -> None:
        self.record.hold()


@dataclass(frozen=True, slots=True)
class _Files:
    """Files that a task commits: its artifact, and the two views if they may be committed."""

    record: Record
    repository: Repository
    order: TaskOrder

    def build(self, onto: str, *, sign: bool) -> candidates.Candidate | Refusal:
        """Put the files onto a tip, as one commit with nothing else."""
        run, order = self.record.run, self.order
        text = self.record.told(TaskJudged, f"{order.operation}/judged").text
        message = commits.message_for(
            f"task {order.number}: {_SUBJECTS.get(order.operation, _SUBJECT)}",
            Session=session_of(run),
            Asbuilt_Run=run.run,
        )
        files = {order.path: self.record.blobs.get(text), **self._views(onto)}
        edit = candidates.Edit(files=files, message=message, by=self.record.author())
        bare = candidates.Candidate(onto=onto, tip=onto, commits=())
        return candidates.add_files(self.repository, bare, edit, run=run.run, sign=sign)

    def _views(self, onto: str) -> dict[str, bytes]:
        run = self.record.run
        found, checkout = found_at(self.repository, onto), Path(run.options.checkout)
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
        """Return None: a plan is not proven, and no check runs after its agent has ended."""
        del candidate
        return None

    def details(self, candidate: candidates.Candidate) -> str:
        """Keep that no phase landed with it."""
        del candidate
        return self.record.blobs.put_json({"commits": [], "marks": False})


def _see_to_views(record: Record, repository: Repository, checkout: Path) -> None:
    """Finish an interrupted write of the views, and write views in place that cannot be committed."""
    run = record.run
    try:
        finish(record.store, run.org, run.repo)
        if not are_committed(repository, checkout, found_here(checkout)):
            write_here(record.store, run.org, run.repo, checkout)
    except _UNWRITTEN as error:
        _leave(record, error)


def _leave(record: Record, error: AsbuiltError) -> None:
    """Leave views as users have edited them; the task is settled all the same."""
    with record.store.write() as session:
        fail(session, record.run, "views_left", error.what, checkpoint="views")


def land(record: Record, repository: Repository, facts: TaskRunFacts, room: Path) -> None:
    """Commit the files of the task, and write views in place that cannot be committed."""
    run, order = record.run, order_of(record.run)
    told = _Told(record)
    record.hold()
    try:
        _see_to_views(record, repository, Path(run.options.checkout))
        Mover(repository, run=run.run, branch=run.options.branch, room=room, record=told).land(
            _Files(record, repository, order),
            cut_off=facts.landing.intent if facts.is_landing else None,
            sign=run.options.signs_if_configured and commits.signs(repository),
            again="asbuilt task export",
        )
    except AsbuiltError as error:
        if trouble_in(error) is not None:
            raise
        told.say(LandingRefused(what=error.what, why=error.why, next=error.next_step), "refused")
