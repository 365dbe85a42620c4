"""What asbuilt remembers about a repository: at most 100 memories per kind.

The newest replace the oldest, except that facts are never dropped automatically.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from asbuilt.journal.database.store import first
from asbuilt.lifecycle.memory import Kind, Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.journal.database.store import Row, Session
    from asbuilt.lifecycle.memory import Lesson

KEPT: Final = 100
"""Maximum per kind and repository."""
_TRIES: Final = 1_000
_COLUMNS: Final = "number, kind, said, files, plan, at, actor"


def remember(session: Session, org: str, repo: str, lessons: Iterable[Lesson], *, actor: str) -> list[Memory]:
    """Store lessons that are not known yet; return the new memories.

    The oldest of the same kind are dropped for them. A fact comes from a user: if there are 100 facts, a new
    one is not stored and nothing is dropped.
    """
    new = []
    # A transaction that has taken the next number blocks the others until it ends, so there is no deadlock.
    for lesson in dict.fromkeys(lessons):
        if lesson.kind is Kind.FACT and len(every(session, org, repo, kind=Kind.FACT)) >= KEPT:
            continue
        number = _number(session, org, repo, lesson, actor)
        kept = None if number is None else named(session, org, repo, number)
        if kept is not None:
            new.append(kept)
    for kind in sorted({one.kind for one in new}):
        session.run(
            "DELETE FROM memories WHERE org = :org AND repo = :repo AND kind = :kind AND number <="
            " (SELECT number FROM memories WHERE org = :org AND repo = :repo AND kind = :kind"
            " ORDER BY number DESC LIMIT 1 OFFSET :kept)",
            org=org,
            repo=repo,
            kind=kind,
            kept=KEPT,
        )
    return new


def every(session: Session, org: str, repo: str, *, kind: Kind | None = None) -> list[Memory]:
    """List the memories of a repository, the newest first."""
    kinds = "" if kind is None else " AND kind = :kind"
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM memories WHERE org = :org AND repo = :repo{kinds} ORDER BY number DESC",
        org=org,
        repo=repo,
        **({} if kind is None else {"kind": kind.value}),
    )
    return [_memory(row) for row in rows]


def named(session: Session, org: str, repo: str, number: int) -> Memory | None:
    """Return a memory by its number."""
    row = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM memories WHERE org = :org AND repo = :repo AND number = :number",
            org=org,
            repo=repo,
            number=number,
        )
    )
    return None if row is None else _memory(row)


def forget(session: Session, org: str, repo: str, numbers: Sequence[int]) -> int:
    """Delete memories; return how many existed."""
    return sum(
        session.run(
            "DELETE FROM memories WHERE org = :org AND repo = :repo AND number = :number",
            org=org,
            repo=repo,
            number=number,
        )
        for number in numbers
    )


def _number(session: Session, org: str, repo: str, lesson: Lesson, actor: str) -> int | None:
    """Store a lesson under the next number, which another run may take first; None if it is known already."""
    where = {"org": org, "repo": repo}
    for _ in range(_TRIES):
        taken = session.rows(
            "SELECT number FROM memories WHERE org = :org AND repo = :repo AND key = :key",
            **where,
            key=lesson.key,
        )
        if taken:
            return None
        last = first(
            session.rows(
                "SELECT number FROM memories WHERE org = :org AND repo = :repo ORDER BY number DESC LIMIT 1",
                **where,
            )
        )
        number = int(last["number"] if last else 0) + 1
        is_mine = session.run(
            "INSERT INTO memories (org, repo, number, key, kind, said, files, plan, at, actor)"
            " VALUES (:org, :repo, :number, :key, :kind, :said, :files, :plan, :now, :actor)"
            " ON CONFLICT DO NOTHING",
            **where,
            number=number,
            key=lesson.key,
            kind=lesson.kind.value,
            said=lesson.text,
            files=json.dumps(lesson.files),
            plan=lesson.plan,
            now=session.now,
            actor=actor,
        )
        if is_mine:
            return number
    raise LookupError(lesson.key)


def _memory(row: Row) -> Memory:
    return Memory(
        int(row["number"]),
        row["kind"],
        row["said"],
        tuple(json.loads(row["files"])),
        row["plan"],
        row["at"],
        row["actor"],
    )
