"""Register a repository in the store. Rule: a copy never shares the journal of its original.

On a database that machines share, a repository is its remote: all clones of one remote have one id. A
repository without a remote that others reach stays on its machine.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.errors import AsbuiltError
from asbuilt.git.identity import Identity, ensure_identity, identity
from asbuilt.git.repository import Repository, open_repository
from asbuilt.journal import repositories
from asbuilt.journal.engine.workers import machine_id
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.repositories import Known
from asbuilt.library.repository_discovery import remote_of
from asbuilt.lifecycle.fleet import canonical

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store


def known(store: Store, repository: Repository) -> str | None:
    """Return the repository's id in the store; None if the store has nothing about it."""
    remote = shared_name(store, repository.common)
    if remote is not None:
        with store.read() as session:
            met = repositories.of_remote(session, LOCAL, remote)
        return None if met is None else met.repo
    found = identity(repository)
    if found is None:
        return None
    with store.read() as session:
        before = repositories.find(session, LOCAL, found.uuid)
    return found.uuid if before is not None and not _is_copy(found, before) else None


def enrol(store: Store, repository: Repository) -> str:
    """Return the repository's id in the store; a new repository or a copy of a known one gets a new id."""
    remote = shared_name(store, repository.common)
    if remote is not None:
        return _met(store, repository, remote)
    found = ensure_identity(repository)
    with store.read() as session:
        before = repositories.find(session, LOCAL, found.uuid)
    if before is not None and _is_copy(found, before):
        found, before = ensure_identity(repository, is_copy=True), None
    here = _as_known(found)
    if here != before:
        with store.write() as session:
            repositories.remember(session, LOCAL, here)
    return found.uuid


def shared_name(store: Store, common: Path) -> str | None:
    """Return the name of the remote that a repository is on a shared database; None: its own folder."""
    url = remote_of(common) if store.is_shared else None
    return canonical(url) if url else None


def _met(store: Store, repository: Repository, remote: str) -> str:
    """Return the id of the repository with a remote; the first clone that asks gives it its own."""
    with store.read() as session:
        met = repositories.of_remote(session, LOCAL, remote)
    if met is not None:
        return met.repo
    mine = ensure_identity(repository)
    with store.write() as session:
        before = repositories.find(session, LOCAL, mine.uuid)
        # The id may be that of a repository whose remote has changed since.
        own = mine.uuid if before is None or before.remote is None else str(uuid.uuid4())
        return repositories.meet(session, LOCAL, own, remote)


def _is_copy(found: Identity, before: Known) -> bool:
    """Return whether the repository with this id still exists elsewhere; if not, it was moved here."""
    here = _as_known(found)
    if before.path == here.path or before.inode == here.inode:
        return False
    try:
        elsewhere = identity(open_repository(Path(before.path)))
    except AsbuiltError:
        return False
    return elsewhere is not None and elsewhere.uuid == found.uuid


def _as_known(found: Identity) -> Known:
    return Known(found.uuid, str(found.common), f"{found.device}:{found.inode}", None, machine_id())
