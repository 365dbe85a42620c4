"""The postflight of a task: idempotent steps after its agent has ended, and the two views of the ledger.

Rules: the postflight can start neither agents nor commands (a contract of `lint-imports` enforces this). The
new contents of the views are in the store before a file is written, so that the next process can finish.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from asbuilt.errors import (
    AsbuiltError,
    GateStopped,
    NameTaken,
    NotFound,
    PlanChanged,
    PlanInvalid,
    PlanUnreadable,
    PlanUnwritable,
)
from asbuilt.events.authoring import TaskJudged, TaskPosted
from asbuilt.events.event import Event
from asbuilt.events.landings import LandingRefused
from asbuilt.events.options import TaskOrder
from asbuilt.flows.engine.transient import transient_error
from asbuilt.flows.landing.move import Mover, Refusal
from asbuilt.flows.run.record import ACTOR, Record, append_event
from asbuilt.git import commits
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, checkouts, path_state
from asbuilt.git.trees import file_in
from asbuilt.journal.runs import Run
from asbuilt.ledger import tasks
from asbuilt.library.atomic_files import clear_away, create, replace
from asbuilt.library.bounded_read import read_bytes
from asbuilt.lifecycle.tasks.error_record import failure
from asbuilt.lifecycle.tasks.model import Artifact, Task
from asbuilt.lifecycle.tasks.results import settled
from asbuilt.lifecycle.tasks.state_json import STATE, read_state
from asbuilt.lifecycle.tasks.statuses import PLAN
from asbuilt.lifecycle.tasks.todo import PLACES, Pair, by_hand, render, taken
from asbuilt.plan.markdown.source import digest

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Transactions
    from asbuilt.lifecycle.tasks.facts import TaskRunFacts

_NAMED = 5
_UNWRITTEN: Final = (GateStopped, PlanChanged, PlanInvalid, PlanUnreadable, PlanUnwritable)
"""Errors that leave the views as they are: edited by hand, only partly readable, or not writable."""
_SUBJECTS: Final = {PLAN: "create implementation plan"}
_SUBJECT: Final = "create research report"


class Found(NamedTuple):
    """The views of a checkout or a commit."""

    todo: str
    """Path of `TODO.md`, one of `PLACES`."""
    pair: Pair


def found_in(read: Callable[[str], bytes | None]) -> Found:
    """Find the views; a `TODO.md` that does not exist yet gets the first of its places."""
    todos = {place: read(place) for place in PLACES}
    place = next((place for place, data in todos.items() if data is not None), PLACES[0])
    return Found(place, Pair(read(STATE), todos[place]))


def found_here(checkout: Path) -> Found:
    """Find the views in a checkout."""

    def read(path: str) -> bytes | None:
        try:
            return read_bytes(checkout / path, name=path)
        except NotFound:
            return None

    return found_in(read)


def found_at(repository: Repository, commit: str) -> Found:
    """Find the views in a commit."""
    return found_in(partial(file_in, repository, commit))


def are_committed(repository: Repository, checkout: Path, found: Found) -> bool:
    """Return whether both views may be changed by a commit: neither has uncommitted edits in the checkout."""
    here = next(
        (candidate for candidate in checkouts(repository) if candidate.path.resolve() == checkout.resolve()),
        None,
    )
    paths = (STATE, found.todo)
    return here is not None and all(path_state(here, path) in ("clean", "missing") for path in paths)


def _shown(session: Session, org: str, repo: str, pair: Pair) -> list[dict[int, Task]]:
    """Return the tasks as of the write of these views, and as of the last import."""
    times = {read_state(pair.state).seq, tasks.head(session, org, repo).imported}
    return [tasks.as_of(session, org, repo, seq) for seq in sorted(filter(None, times))]


def wanted_by_hand(session: Session, org: str, repo: str, pair: Pair) -> dict[int, Task]:
    """Return the tasks that would change if the users' edits of the views were imported."""
    return taken(pair, tasks.every(session, org, repo), _shown(session, org, repo, pair))


def rendered(session: Session, org: str, repo: str, found: Found) -> Pair:
    """Return the new views; refuse if users have edited them."""
    known = tasks.every(session, org, repo)
    differ = by_hand(found.pair, known, _shown(session, org, repo, found.pair))
    if differ:
        differences = "; ".join(difference.words for difference in differ[:_NAMED])
        raise GateStopped(
            f"{found.todo} and {STATE} were edited by hand: {differences}",
            why="asbuilt never overwrites edits by hand.",
            next_step="`asbuilt task import` imports them into the ledger; or undo them in the file.",
        )
    head = tasks.head(session, org, repo)
    return render(found.pair, known, next_number=head.next_number, seq=head.seq, place=found.todo)


def write_here(store: Transactions, org: str, repo: str, checkout: Path) -> list[str]:
    """Update both views in a checkout; return the paths of those that changed."""
    finish(store, org, repo)
    with store.write() as session:
        if tasks.hold(session, org, repo).writing is not None:
            # Another process has just started to write: its contents are as new as ours.
            return []
        # The ledger is locked, so no other asbuilt process writes them, and both views match.
        found = found_here(checkout)
        after = rendered(session, org, repo, found)
        files = [
            [path, None if old is None else digest(old), (new or b"").decode("latin-1")]
            for path, old, new in zip((STATE, found.todo), found.pair, after, strict=True)
            if old != new
        ]
        if not files:
            return []
        tasks.set_writing(session, org, repo, {"checkout": str(checkout), "files": files})
    finish(store, org, repo)
    return [str(path) for path, _, _ in files]


def finish(store: Transactions, org: str, repo: str) -> None:
    """Finish an interrupted write of the views; without one, do nothing.

    The ledger is locked meanwhile. A killed process leaves a temporary file beside a view only while that
    view is still to be written, so the process that finishes can identify and delete it.
    """
    with store.read() as session:
        if tasks.head(session, org, repo).writing is None:
            return
    with store.write() as session:
        writing = tasks.hold(session, org, repo).writing
        if writing is None:
            return
        checkout, files = Path(writing["checkout"]), writing["files"]
        data = {path: new.encode("latin-1") for path, _, new in files}
        changed = [path for path, old, _ in files if _at(checkout / path) not in (old, digest(data[path]))]
        changed = changed or [
            path for path, old, _ in files if not _written(checkout / path, old, data[path])
        ]
        tasks.set_writing(session, org, repo, None)
    if changed:
        raise PlanChanged(
            f"{', '.join(changed)} was changed while it was being written",
            why="Another program's text would be lost, so the file stays as it is.",
            next_step="`asbuilt task import` shows the difference, or write it again: `asbuilt task export`",
        )


def _at(file: Path) -> str | None:
    try:
        return digest(read_bytes(file, name=file.name))
    except NotFound:
        return None


def _written(file: Path, old: str | None, data: bytes) -> bool:
    """Write one view, unless it is written; False if another process has changed it."""
    try:
        if _at(file) == old and old is None:
            create(file, data, name=file.name)
        elif _at(file) == old:
            replace(file, data, expected=old or "", name=file.name)
    except (NameTaken, PlanChanged):
        return _at(file) == digest(data)
    clear_away(file, is_known=lambda left: data.startswith(left) or digest(left) == old)
    return _at(file) == digest(data)


def session_of(run: Run) -> str:
    """Return the session id of a run, as commits and records of tasks use it."""
    return f"sess_{int(datetime.fromisoformat(run.at).timestamp())}_{run.run[-6:]}"


def fail(session: Session, run: Run, kind: str, message: str, *, checkpoint: str) -> None:
    """Record an error of the task of a run."""
    order = run.options.ordered
    error = failure(
        kind, message, task=order.number, session=session_of(run), checkpoint=checkpoint,
        command=f"asbuilt task {order.operation} {order.number}", at=session.now,
    )  # fmt: skip
    key = f"{run.run}/failed/{checkpoint}"
    tasks.fail(session, run.org, run.repo, order.number, error=error, key=key, actor=ACTOR)


def post(record: Record) -> None:
    """Settle the task in the ledger: status, link and counter in one transaction."""
    run, order = record.run, record.run.options.ordered
    judged = record.event(TaskJudged, f"{order.operation}/judged")
    artifact = Artifact(order.operation, judged.path, judged.summary)
    with record.store.write() as session:
        tasks.hold(session, run.org, run.repo)
        task = tasks.every(session, run.org, run.repo)[order.number]
        changes, key = settled(task, order, artifact), f"{run.run}/postflight"
        after = tasks.change(session, run.org, run.repo, order.number, changes=changes, key=key, actor=ACTOR)
        append_event(session, run, TaskPosted(task=order.number, status=after.status), "posted")


def _append(record: Record, event: Event, key: str) -> None:
    """Write an event of a commit; a refused commit is also an error of the task, and is not fatal."""
    with record.store.write() as session:
        if isinstance(event, LandingRefused):
            fail(session, record.run, "commit_refused", event.what, checkpoint="commit")
        append_event(session, record.run, event, key)


class _Files(Struct, frozen=True):
    """Files that a task commits: its artifact, and the two views if they may be committed."""

    record: Record
    repository: Repository
    order: TaskOrder

    def build(self, onto: str, *, sign: bool) -> candidates.Candidate | Refusal:
        """Put the files onto a tip, as one commit with nothing else."""
        run, order = self.record.run, self.order
        text = self.record.event(TaskJudged, f"{order.operation}/judged").text
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
    run, options, write = record.run, record.run.options, partial(_append, record)
    mover = Mover(
        repository=repository, run=run.run, branch=options.branch, room=room, append=write, hold=record.hold
    )
    record.hold()
    try:
        _see_to_views(record, repository, Path(options.checkout))
        mover.land(
            _Files(record, repository, options.ordered),
            cut_off=facts.landing.intent if facts.is_landing else None,
            sign=options.signs_if_configured and commits.signs(repository),
            again="asbuilt task export",
        )
    except AsbuiltError as error:
        if transient_error(error) is not None:
            raise
        write(LandingRefused(what=error.what, why=error.why, next=error.next_step), "refused")
