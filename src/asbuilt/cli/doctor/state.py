"""Look at the state folder: its disk, the journal in it, the worker. Nothing is made that is not there."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Final

from asbuilt.cli.doctor.facts import StoreFacts, WorkerFacts
from asbuilt.cli.doctor.repository import trouble_of
from asbuilt.errors import StoreFailed
from asbuilt.flows.worker import is_running
from asbuilt.journal.home import Home, refuse_network
from asbuilt.journal.schema import STEPS
from asbuilt.journal.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.store import Store

_KNOWN_SCHEMA: Final = STEPS[-1].number


def look_at_store(home: Home, *, postgres: Store | None = None) -> StoreFacts:
    """Say where the journal is kept, whether it answers, and how much room there is.

    A Postgres is given by whoever knows its address; its driver is not loaded here.
    """
    database = "SQLite" if postgres is None else "Postgres"
    free = _free(home.path)
    try:
        refuse_network(home.path)
        schema = _schema_of_file(home.journal) if postgres is None else postgres.version()
    except StoreFailed as error:
        return StoreFacts(
            database=database,
            free_bytes=free,
            schema=None,
            known_schema=_KNOWN_SCHEMA,
            trouble=trouble_of(error),
        )
    return StoreFacts(database=database, free_bytes=free, schema=schema, known_schema=_KNOWN_SCHEMA)


def look_at_worker(home: Home) -> WorkerFacts:
    """Say whether somebody holds the worker's lock, and who."""
    if not is_running(home.worker_lock):
        return WorkerFacts(running=False)
    try:
        written = home.worker_lock.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        written = ""
    return WorkerFacts(running=True, pid=int(written) if written.isdecimal() else None)


def _schema_of_file(file: Path) -> int | None:
    if not file.exists():
        return None
    with closing(SqliteStore(file)) as store:
        return store.version()


def _free(folder: Path) -> int | None:
    there = next((one for one in (folder, *folder.parents) if one.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None
