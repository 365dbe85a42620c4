"""What asbuilt remembers about a repository: the newest 100 memories per kind; facts are never dropped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from asbuilt.journal.database.table import OF_REPO, Table
from asbuilt.lifecycle.memory import Kind, Lesson, Memory

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

KEPT: Final = 100
"""Maximum per kind and repository."""


def _memory(*, said: str, files: str, actor: str, **row: Any) -> Memory:  # noqa: ANN401 - columns
    return Memory(**row, text=said, files=tuple(json.loads(files)), by=actor)


_MEMORIES: Final = Table("memories", _memory, ("number", "kind", "said", "files", "plan", "at", "actor"))


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
        columns = {"kind": lesson.kind.value, "said": lesson.text, "files": json.dumps(lesson.files)}
        columns |= {"plan": lesson.plan, "at": session.now, "actor": actor}
        number = _MEMORIES.insert_numbered(session, org=org, repo=repo, key=lesson.key, **columns)
        kept = None if number is None else named(session, org, repo, number)
        if kept is not None:
            new.append(kept)
    for kind in sorted({memory.kind for memory in new}):
        delete = (
            f"DELETE FROM memories WHERE {OF_REPO} AND kind = :kind AND number <="
            f" (SELECT number FROM memories WHERE {OF_REPO} AND kind = :kind"
            " ORDER BY number DESC LIMIT 1 OFFSET :kept)"
        )
        session.run(delete, org=org, repo=repo, kind=kind, kept=KEPT)
    return new


def every(session: Session, org: str, repo: str, *, kind: Kind | None = None) -> list[Memory]:
    """List the memories of a repository, the newest first."""
    where = f"{OF_REPO}{'' if kind is None else ' AND kind = :kind'} ORDER BY number DESC"
    return _MEMORIES.every(session, where, org=org, repo=repo, kind=kind and kind.value)


def named(session: Session, org: str, repo: str, number: int) -> Memory | None:
    """Return a memory by its number."""
    return _MEMORIES.first(session, f"{OF_REPO} AND number = :number", org=org, repo=repo, number=number)


def forget(session: Session, org: str, repo: str, numbers: Sequence[int]) -> int:
    """Delete memories; return how many existed."""
    delete = f"DELETE FROM memories WHERE {OF_REPO} AND number = :number"
    return sum(session.run(delete, org=org, repo=repo, number=number) for number in numbers)
