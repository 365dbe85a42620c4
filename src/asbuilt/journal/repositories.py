"""Known repositories and the last place of each, which distinguishes a copy from a move."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.journal.database.store import first

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


class Known(NamedTuple):
    """A repository and its last known place."""

    repo: str
    path: str
    """The git folder that all its checkouts share."""
    inode: str
    remote: str | None
    machine: str | None = None
    """The machine that has its folder; None in rows from before there were several machines."""


def worked_in(table: str, machine: str | None) -> str:
    """Return SQL that limits rows of a table to repositories on a machine; "" if `machine` is None.

    Repositories without a recorded machine match every machine.
    """
    if machine is None:
        return ""
    return (
        f" AND NOT EXISTS (SELECT 1 FROM repositories WHERE repositories.org = {table}.org"
        f" AND repositories.repo = {table}.repo AND repositories.machine <> :machine)"
    )


def find(session: Session, org: str, repo: str) -> Known | None:
    """Return a repository, or None if it is unknown."""
    row = first(
        session.rows(
            "SELECT repo, path, inode, remote, machine FROM repositories WHERE org = :org AND repo = :repo",
            org=org,
            repo=repo,
        )
    )
    return None if row is None else Known(**row)


def remember(session: Session, org: str, known: Known) -> None:
    """Record where a repository is now."""
    session.run(
        "INSERT INTO repositories (org, repo, path, inode, remote, machine, seen_at)"
        " VALUES (:org, :repo, :path, :inode, :remote, :machine, :now)"
        " ON CONFLICT (org, repo) DO UPDATE SET path = :path, inode = :inode, remote = :remote,"
        " machine = :machine, seen_at = :now",
        org=org,
        **known._asdict(),
        now=session.now,
    )


def every(session: Session, org: str, *, limit: int = 200) -> list[Known]:
    """List the repositories, the most recently recorded first."""
    rows = session.rows(
        "SELECT repo, path, inode, remote, machine FROM repositories WHERE org = :org"
        " ORDER BY seen_at DESC, path LIMIT :limit",
        org=org,
        limit=limit,
    )
    return [Known(**row) for row in rows]
