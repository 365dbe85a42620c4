"""Which repositories this store knows, and where each was last seen: how a copy is told from a move."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.journal.database.store import first

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


class Known(NamedTuple):
    """A repository as it was last seen."""

    repo: str
    path: str
    """The git folder that all its checkouts share."""
    inode: str
    remote: str | None
    machine: str | None = None
    """Where its folder is; None: written before there were several."""


def worked_in(table: str, machine: str | None) -> str:
    """Say in SQL that rows of a table are of repositories which a machine has; None: there is only one."""
    if machine is None:
        return ""
    return (
        f" AND NOT EXISTS (SELECT 1 FROM repositories WHERE repositories.org = {table}.org"
        f" AND repositories.repo = {table}.repo AND repositories.machine <> :machine)"
    )


def find(session: Session, org: str, repo: str) -> Known | None:
    """Return what is known of a repository."""
    row = first(
        session.rows(
            "SELECT repo, path, inode, remote, machine FROM repositories WHERE org = :org AND repo = :repo",
            org=org,
            repo=repo,
        )
    )
    return None if row is None else Known(**row)


def remember(session: Session, org: str, known: Known) -> None:
    """Write down where a repository is now."""
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
    """List the repositories, the one that was written about last first."""
    rows = session.rows(
        "SELECT repo, path, inode, remote, machine FROM repositories WHERE org = :org"
        " ORDER BY seen_at DESC, path LIMIT :limit",
        org=org,
        limit=limit,
    )
    return [Known(**row) for row in rows]
