"""The tasks of a repository: append-only events, and a row for each task.

Every change locks the ledger's head row first, so that concurrent changes are serialized.

Rule: a change that is repeated under its key appends nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.lifecycle.tasks.model import Task, changed, fold, plain, plain_fields, read_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.journal.database.store import Row, Session

_PAGE: Final = 5_000
ADDED: Final = "task.added"
CHANGED: Final = "task.changed"
IMPORTED: Final = "task.imported"
FAILED: Final = "task.failed"


class Head(NamedTuple):
    """The head row of a ledger."""

    seq: int
    next_number: int
    imported: int
    """The value of `seq` when task views were last imported; 0 if never."""
    writing: dict[str, Any] | None
    """Views that are being written; after a crash, the next write finishes them."""


class Event(NamedTuple):
    """A change of a task."""

    seq: int
    key: str
    number: int
    kind: str
    at: str
    actor: str
    data: dict[str, Any]


def head(session: Session, org: str, repo: str) -> Head:
    """Read the head row; returns an empty head for a ledger without one."""
    rows = session.rows(
        "SELECT seq, next_number, imported, writing FROM ledgers WHERE org = :org AND repo = :repo",
        org=org,
        repo=repo,
    )
    if not rows:
        return Head(0, 1, 0, None)
    row = rows[0]
    writing = None if row["writing"] is None else json.loads(row["writing"])
    return Head(int(row["seq"]), int(row["next_number"]), int(row["imported"]), writing)


def hold(session: Session, org: str, repo: str) -> Head:
    """Lock the head row until this transaction ends; creates it if missing."""
    session.run(
        "INSERT INTO ledgers (org, repo, seq, next_number, imported) VALUES (:org, :repo, 0, 1, 0)"
        " ON CONFLICT (org, repo) DO NOTHING",
        org=org,
        repo=repo,
    )
    session.run("UPDATE ledgers SET seq = seq WHERE org = :org AND repo = :repo", org=org, repo=repo)
    return head(session, org, repo)


def add(  # noqa: PLR0913 - a task has these parts
    session: Session, org: str, repo: str, *, slug: str, kind: str, description: str, key: str, actor: str
) -> Task:
    """Add a task under the next number; adding it again under the same key returns the existing one."""
    known = _keyed(session, org, repo, key)
    if known is not None:
        return every(session, org, repo)[known.number]
    number = hold(session, org, repo).next_number
    now = session.now
    task = Task(number=number, slug=slug, kind=kind, description=description, created=now, updated=now)
    _append(session, org, repo, key=key, number=number, kind=ADDED, actor=actor, data=plain(task))
    _keep(session, org, repo, task)
    _count(session, org, repo, number + 1)
    return task


def change(  # noqa: PLR0913 - a change has these parts
    session: Session,
    org: str,
    repo: str,
    number: int,
    *,
    changes: Mapping[str, Any],
    key: str,
    actor: str,
    kind: str = CHANGED,
    why: str = "",
) -> Task:
    """Change some fields of a task; repeating it under the same key is a no-op."""
    hold(session, org, repo)
    task = every(session, org, repo)[number]
    if _keyed(session, org, repo, key) is not None:
        return task
    told = plain_fields({**changes, "updated": session.now})
    data = {**told, "why": why} if why else told
    _append(session, org, repo, key=key, number=number, kind=kind, actor=actor, data=data)
    after = changed(task, told)
    _keep(session, org, repo, after)
    return after


def fail(  # noqa: PLR0913 - an error has these parts
    session: Session, org: str, repo: str, number: int, *, error: Mapping[str, Any], key: str, actor: str
) -> None:
    """Record an error of a task; its row stays as it is."""
    hold(session, org, repo)
    if _keyed(session, org, repo, key) is None:
        _append(session, org, repo, key=key, number=number, kind=FAILED, actor=actor, data={"error": error})


def take(
    session: Session, org: str, repo: str, tasks: Mapping[int, Task], *, next_number: int, actor: str
) -> list[int]:
    """Import tasks from elsewhere as they are; return the numbers of those that differ."""
    before = hold(session, org, repo)
    known = every(session, org, repo)
    differ = [number for number, task in tasks.items() if known.get(number) != task]
    for at, number in enumerate(differ, before.seq + 1):
        task = tasks[number]
        _append(
            session,
            org,
            repo,
            key=f"import/{at}",
            number=number,
            kind=IMPORTED,
            actor=actor,
            data=plain(task),
        )
        _keep(session, org, repo, task)
    _count(session, org, repo, max([before.next_number, next_number, *(one + 1 for one in tasks)]))
    session.run("UPDATE ledgers SET imported = seq WHERE org = :org AND repo = :repo", org=org, repo=repo)
    return differ


def every(session: Session, org: str, repo: str) -> dict[int, Task]:
    """Return the tasks of a repository by number."""
    rows = session.rows(
        "SELECT number, data FROM tasks WHERE org = :org AND repo = :repo ORDER BY number",
        org=org,
        repo=repo,
    )
    return {int(row["number"]): read_task(json.loads(row["data"])) for row in rows}


def history(
    session: Session, org: str, repo: str, *, number: int | None = None, until: int | None = None
) -> list[Event]:
    """Return the events of all tasks, or of one, in order, up to a sequence number."""
    where = "" if number is None else " AND number = :number"
    where += "" if until is None else " AND seq <= :until"
    found: list[Event] = []
    after = 0
    while True:
        rows = session.rows(
            "SELECT seq, key, number, kind, at, actor, data FROM task_events"
            f" WHERE org = :org AND repo = :repo AND seq > :after{where} ORDER BY seq LIMIT :limit",
            org=org,
            repo=repo,
            number=number,
            until=until,
            after=after,
            limit=_PAGE,
        )
        found += map(_event, rows)
        if len(rows) < _PAGE:
            return found
        after = found[-1].seq


def as_of(session: Session, org: str, repo: str, seq: int) -> dict[int, Task]:
    """Return the tasks as of a sequence number."""
    return fold((one.number, one.data) for one in history(session, org, repo, until=seq))


def set_writing(session: Session, org: str, repo: str, writing: Mapping[str, Any] | None) -> None:
    """Record which views are being written; None when that is done."""
    session.run(
        "UPDATE ledgers SET writing = :writing WHERE org = :org AND repo = :repo",
        org=org,
        repo=repo,
        writing=None if writing is None else json.dumps(writing, sort_keys=True),
    )


def _append(  # noqa: PLR0913 - an event has these parts
    session: Session,
    org: str,
    repo: str,
    *,
    key: str,
    number: int,
    kind: str,
    actor: str,
    data: Mapping[str, Any],
) -> None:
    (row,) = session.rows(
        "UPDATE ledgers SET seq = seq + 1 WHERE org = :org AND repo = :repo RETURNING seq", org=org, repo=repo
    )
    session.run(
        "INSERT INTO task_events (org, repo, seq, key, number, kind, at, actor, data)"
        " VALUES (:org, :repo, :seq, :key, :number, :kind, :at, :actor, :data)",
        org=org,
        repo=repo,
        seq=row["seq"],
        key=key,
        number=number,
        kind=kind,
        at=session.now,
        actor=actor,
        data=json.dumps(data, sort_keys=True),
    )


def _keep(session: Session, org: str, repo: str, task: Task) -> None:
    session.run(
        "INSERT INTO tasks (org, repo, number, data) VALUES (:org, :repo, :number, :data)"
        " ON CONFLICT (org, repo, number) DO UPDATE SET data = :data",
        org=org,
        repo=repo,
        number=task.number,
        data=json.dumps(plain(task), sort_keys=True),
    )


def _count(session: Session, org: str, repo: str, next_number: int) -> None:
    session.run(
        "UPDATE ledgers SET next_number = :next WHERE org = :org AND repo = :repo AND next_number < :next",
        org=org,
        repo=repo,
        next=next_number,
    )


def _keyed(session: Session, org: str, repo: str, key: str) -> Event | None:
    rows = session.rows(
        "SELECT seq, key, number, kind, at, actor, data FROM task_events"
        " WHERE org = :org AND repo = :repo AND key = :key",
        org=org,
        repo=repo,
        key=key,
    )
    return _event(rows[0]) if rows else None


def _event(row: Row) -> Event:
    return Event(**{**row, "data": json.loads(row["data"])})
