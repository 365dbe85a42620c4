"""Known repositories and the last place of each, which distinguishes a copy from a move."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.journal.database.table import OF_REPO, Table, insert

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
    """The machine that has its folder; None: every machine may have a clone, as of a remote."""

    @property
    def folder(self) -> PurePath:
        """The folder of the repository, not its .git folder."""
        path = PurePath(self.path)
        return path.parent if path.name == ".git" else path


_KNOWN: Final = Table("repositories", Known, Known._fields)


def worked_in(table: str, machine: str | None) -> str:
    """Return SQL that leaves out repositories of other machines; "" if `machine` is None."""
    if machine is None:
        return ""
    return (
        f" AND NOT EXISTS (SELECT 1 FROM repositories WHERE repositories.org = {table}.org"
        f" AND repositories.repo = {table}.repo AND repositories.machine <> :machine)"
    )


def find(session: Session, org: str, repo: str) -> Known | None:
    """Return a repository, or None if it is unknown."""
    return _KNOWN.first(session, OF_REPO, org=org, repo=repo)


def of_remote(session: Session, org: str, remote: str) -> Known | None:
    """Return the repository with a remote, or None if it is unknown."""
    return _KNOWN.first(session, "org = :org AND remote = :remote", org=org, remote=remote)


def remember(session: Session, org: str, known: Known) -> None:
    """Record where a repository is now."""
    again = (
        "ON CONFLICT (org, repo) DO UPDATE SET path = :path, inode = :inode, remote = :remote,"
        " machine = :machine, seen_at = :seen_at"
    )
    insert(session, "repositories", again, org=org, **known._asdict(), seen_at=session.now)


def meet(session: Session, org: str, repo: str, remote: str) -> str:
    """Give a remote an id unless it has one; return its id. All clones of the remote share it."""
    # A repository that was known by its folder keeps its id and its history.
    session.run(
        "UPDATE repositories SET path = :remote, inode = '', remote = :remote, machine = NULL"
        " WHERE org = :org AND repo = :repo AND remote IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM repositories AS met WHERE met.org = :org AND met.remote = :remote)",
        org=org,
        repo=repo,
        remote=remote,
    )
    known = Known(repo, remote, "", remote)
    insert(session, "repositories", "ON CONFLICT DO NOTHING", org=org, **known._asdict(), seen_at=session.now)
    met = of_remote(session, org, remote)
    if met is None:
        raise LookupError(remote)
    return met.repo


def every(session: Session, org: str, *, limit: int = 200) -> list[Known]:
    """List the repositories, the most recently recorded first."""
    return _KNOWN.every(session, "org = :org ORDER BY seen_at DESC, path LIMIT :limit", org=org, limit=limit)
