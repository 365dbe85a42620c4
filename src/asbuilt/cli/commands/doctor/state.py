"""Probe the state folder: its disk, the journal, the worker. Nothing is created."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Final

from asbuilt.cli.commands.doctor.facts import StoreFacts, WorkerFacts
from asbuilt.cli.commands.doctor.repository import trouble_of
from asbuilt.errors import StoreFailed
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.home import Home, refuse_network
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.notices import unheard
from asbuilt.wiring import open_store, worker_pid

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.notices import Unheard
    from asbuilt.settings import Settings

_KNOWN_SCHEMA: Final = STEPS[-1].number


def look_at_store(home: Home, settings: Settings) -> StoreFacts:
    """Return where the journal is, its schema or error, and the free disk space."""
    database = "Postgres" if settings.text("store.url") else "SQLite"
    free = _free(home.path)
    try:
        refuse_network(home.path)
        schema = _schema(home, settings)
    except StoreFailed as error:
        return StoreFacts(
            database=database,
            free_bytes=free,
            schema=None,
            known_schema=_KNOWN_SCHEMA,
            trouble=trouble_of(error),
        )
    return StoreFacts(database=database, free_bytes=free, schema=schema, known_schema=_KNOWN_SCHEMA)


def look_at_notices(home: Home, settings: Settings) -> tuple[Unheard, ...]:
    """Return notification channels whose last message failed; empty without a readable journal."""
    try:
        if _schema(home, settings) != _KNOWN_SCHEMA:
            return ()
        with closing(open_store(home, settings)) as store, store.read() as session:
            return tuple(unheard(session, LOCAL))
    except StoreFailed:
        return ()


def look_at_worker(home: Home) -> WorkerFacts:
    """Return whether a process holds the worker's lock, and its id."""
    pid = worker_pid(home)
    return WorkerFacts(running=pid is not None, pid=pid or None)


def _schema(home: Home, settings: Settings) -> int | None:
    if not settings.text("store.url") and not home.journal.exists():
        return None
    with closing(open_store(home, settings)) as store:
        return store.version()


def _free(folder: Path) -> int | None:
    there = next((one for one in (folder, *folder.parents) if one.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None
