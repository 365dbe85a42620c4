"""Start a task's run: set the task's status before any agent runs."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from asbuilt.events.questions import SandboxKey
from asbuilt.events.runs import RunStarted
from asbuilt.flows.run.record import ACTOR, Record, append_event
from asbuilt.flows.start import claim, is_agreed
from asbuilt.flows.tasks.postflight import session_of
from asbuilt.git import commits
from asbuilt.git.repository import Repository, base_on
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.model import Changes, Pending, workable
from asbuilt.lifecycle.tasks.statuses import UNDER_WAY


def start(record: Record, repository: Repository, level: str) -> None:
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
