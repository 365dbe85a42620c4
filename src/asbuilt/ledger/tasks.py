"""The tasks of a repository: append-only events, and a row for each task.

Every change locks the ledger's head row first. Rule: a change that is repeated under its key appends nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

import msgspec

from asbuilt.events.convert import convert
from asbuilt.journal.database.table import OF_REPO, Table, insert
from asbuilt.lifecycle.tasks.error_record import Failure
from asbuilt.lifecycle.tasks.model import Added, Changed, Changes, Failed, Imported, Task, TaskEvent, fold

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_PAGE: Final = 5_000
_KINDS: Final[Mapping[type, str]] = {
    Added: "task.added",
    Changed: "task.changed",
    Imported: "task.imported",
    Failed: "task.failed",
}


class Head(NamedTuple):
    """The head row of a ledger."""

    seq: int
    next_number: int
    imported: int
    """The value of `seq` when task views were last imported; 0 if never."""
    writing: dict[str, Any] | None
    """Views that are being written; after a crash, the next write finishes them."""


class Entry(NamedTuple):
    """An event of a task, as the ledger stores it."""

    seq: int
    number: int
    at: str
    actor: str
    event: TaskEvent

    @property
    def kind(self) -> str:
        """The stored name of the event: `task.changed`."""
        return _KINDS[type(self.event)]


def _head(*, writing: str | None, **row: int) -> Head:
    return Head(**row, writing=None if writing is None else json.loads(writing))


def _entry(*, kind: str, data: str, **row: Any) -> Entry:  # noqa: ANN401 - columns
    return Entry(**row, event=_event(kind, json.loads(data)))


def _event(kind: str, data: Any) -> TaskEvent:  # noqa: ANN401 - JSON, as it was stored
    match kind:
        case "task.changed":
            return Changed(convert(data, Changes), data.get("why", ""))
        case "task.failed":
            return Failed(convert(data["error"], Failure))
        case "task.added":
            return Added(convert(data, Task))
        case _:
            return Imported(convert(data, Task))


_HEADS: Final = Table("ledgers", _head, Head._fields)
_EVENTS: Final = Table("task_events", _entry, ("seq", "number", "at", "actor", "kind", "data"))


def head(session: Session, org: str, repo: str) -> Head:
    """Read the head row; returns an empty head for a ledger without one."""
    found = _HEADS.first(session, OF_REPO, org=org, repo=repo)
    return found or Head(0, 1, 0, None)


def hold(session: Session, org: str, repo: str) -> Head:
    """Lock the head row until this transaction ends; creates it if missing."""
    once = "ON CONFLICT (org, repo) DO NOTHING"
    insert(session, "ledgers", once, org=org, repo=repo, seq=0, next_number=1, imported=0)
    _set(session, org, repo, "seq = seq")
    return head(session, org, repo)


def add(  # noqa: PLR0913 - a task has these parts
    session: Session, org: str, repo: str, *, slug: str, kind: str, description: str, key: str, actor: str
) -> Task:
    """Add a task under the next number; adding it again under the same key returns the existing one."""
    known = _numbered(session, org, repo, key)
    if known is not None:
        return every(session, org, repo)[known]
    number = hold(session, org, repo).next_number
    now = session.now
    task = Task(number=number, slug=slug, kind=kind, description=description, created=now, updated=now)
    _append(session, org, repo, number, Added(task), key=key, actor=actor)
    _keep(session, org, repo, task)
    _count(session, org, repo, number + 1)
    return task


def change(  # noqa: PLR0913 - a change has these parts
    session: Session,
    org: str,
    repo: str,
    number: int,
    *,
    changes: Changes,
    key: str,
    actor: str,
    why: str = "",
) -> Task:
    """Change some fields of a task; repeating it under the same key is a no-op."""
    hold(session, org, repo)
    task = every(session, org, repo)[number]
    if _numbered(session, org, repo, key) is not None:
        return task
    changes = msgspec.structs.replace(changes, updated=session.now)
    _append(session, org, repo, number, Changed(changes, why), key=key, actor=actor)
    after = changes.applied(task)
    _keep(session, org, repo, after)
    return after


def fail(  # noqa: PLR0913 - an error has these parts
    session: Session, org: str, repo: str, number: int, *, error: Failure, key: str, actor: str
) -> None:
    """Record an error of a task; its row stays as it is."""
    hold(session, org, repo)
    if _numbered(session, org, repo, key) is None:
        _append(session, org, repo, number, Failed(error), key=key, actor=actor)


def take(
    session: Session, org: str, repo: str, tasks: Mapping[int, Task], *, next_number: int, actor: str
) -> list[int]:
    """Import tasks from elsewhere as they are; return the numbers of those that differ."""
    before = hold(session, org, repo)
    known = every(session, org, repo)
    differ = [number for number, task in tasks.items() if known.get(number) != task]
    for at, number in enumerate(differ, before.seq + 1):
        _append(session, org, repo, number, Imported(tasks[number]), key=f"import/{at}", actor=actor)
        _keep(session, org, repo, tasks[number])
    _count(
        session,
        org,
        repo,
        max([before.next_number, next_number, *(task_number + 1 for task_number in tasks)]),
    )
    _set(session, org, repo, "imported = seq")
    return differ


def every(session: Session, org: str, repo: str) -> dict[int, Task]:
    """Return the tasks of a repository by number."""
    rows = session.rows(f"SELECT data FROM tasks WHERE {OF_REPO} ORDER BY number", org=org, repo=repo)
    tasks = (convert(json.loads(row["data"]), Task) for row in rows)
    return {task.number: task for task in tasks}


def history(
    session: Session, org: str, repo: str, *, number: int | None = None, until: int | None = None
) -> list[Entry]:
    """Return the events of all tasks, or of one, in order, up to a sequence number."""
    where = "" if number is None else " AND number = :number"
    where += "" if until is None else " AND seq <= :until"
    found: list[Entry] = []
    after = 0
    given = {"org": org, "repo": repo, "number": number, "until": until, "limit": _PAGE}
    page = f"{OF_REPO} AND seq > :after{where} ORDER BY seq LIMIT :limit"
    while events := _EVENTS.every(session, page, **given, after=after):
        found += events
        after = found[-1].seq
    return found


def as_of(session: Session, org: str, repo: str, seq: int) -> dict[int, Task]:
    """Return the tasks as of a sequence number."""
    return fold((entry.number, entry.event) for entry in history(session, org, repo, until=seq))


def set_writing(session: Session, org: str, repo: str, writing: Mapping[str, Any] | None) -> None:
    """Record which views are being written; None when that is done."""
    text = None if writing is None else json.dumps(writing, sort_keys=True)
    _set(session, org, repo, "writing = :writing", writing=text)


def _set(session: Session, org: str, repo: str, change: str, **values: object) -> None:
    session.run(f"UPDATE ledgers SET {change} WHERE {OF_REPO}", org=org, repo=repo, **values)


def _append(  # noqa: PLR0913 - an event has these parts
    session: Session, org: str, repo: str, number: int, event: TaskEvent, *, key: str, actor: str
) -> None:
    _set(session, org, repo, "seq = seq + 1")
    given: dict[str, Any] = {"org": org, "repo": repo, "key": key, "number": number}
    given |= {"seq": head(session, org, repo).seq, "kind": _KINDS[type(event)], "at": session.now}
    data = json.dumps(_stored(event), sort_keys=True)
    insert(session, "task_events", **given, actor=actor, data=data)


def _keep(session: Session, org: str, repo: str, task: Task) -> None:
    again = "ON CONFLICT (org, repo, number) DO UPDATE SET data = :data"
    data = json.dumps(msgspec.to_builtins(task), sort_keys=True)
    insert(session, "tasks", again, org=org, repo=repo, number=task.number, data=data)


def _count(session: Session, org: str, repo: str, next_number: int) -> None:
    """Raise the next number; never lower it."""
    if head(session, org, repo).next_number < next_number:
        _set(session, org, repo, "next_number = :next", next=next_number)


def _numbered(session: Session, org: str, repo: str, key: str) -> int | None:
    """Return the number of the task that the event under a key is about; None if there is no such event."""
    found = _EVENTS.first(session, f"{OF_REPO} AND key = :key", org=org, repo=repo, key=key)
    return None if found is None else found.number


def _stored(event: TaskEvent) -> dict[str, Any]:
    """Return the data of an event: the whole task, the changed fields, or the error."""
    match event:
        case Added(task) | Imported(task):
            data: dict[str, Any] = msgspec.to_builtins(task)
        case Changed(changes, why):
            data = msgspec.to_builtins(changes) | ({"why": why} if why else {})
        case Failed(error):
            data = {"error": msgspec.to_builtins(error)}
        case _:
            assert_never(event)
    return data
