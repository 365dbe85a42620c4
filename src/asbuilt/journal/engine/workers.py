"""Workers and their heartbeats, by the database's clock.

A worker that others gave up learns this from its next heartbeat, which is rejected. The id of
a worker is stored in its state folder; a copy of the folder gets a new id.
"""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.journal.database.table import insert
from asbuilt.journal.ids import new_id

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.home import Home

_THIS: Final = "org = :org AND worker = :worker"
_MACHINE: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def register(session: Session, org: str, worker: str, *, host: str, pid: int, build: str) -> int:
    """Register a worker; return its epoch, which no earlier worker of this id had."""
    again = (
        "ON CONFLICT (org, worker) DO UPDATE SET host = :host, pid = :pid, build = :build,"
        " beat_at = :beat_at, draining = 0, epoch = workers.epoch + 1"
    )
    given = {"org": org, "worker": worker, "host": host, "pid": pid, "build": build, "beat_at": session.now}
    insert(session, "workers", again, **given, draining=0, epoch=1)
    rows = session.rows(f"SELECT epoch FROM workers WHERE {_THIS}", org=org, worker=worker)
    return int(rows[0]["epoch"])


def refused_user(session: Session) -> str | None:
    """Return None if this user of a shared database may use the engine's tables, else the user's name."""
    rows = session.rows(
        "SELECT current_user AS name, CASE WHEN to_regnamespace('dbos') IS NULL"
        " THEN has_database_privilege(current_database(), 'CREATE')"
        " ELSE has_schema_privilege(to_regnamespace('dbos'), 'USAGE') END AS may"
    )
    return None if rows[0]["may"] else str(rows[0]["name"])


def heartbeat(session: Session, org: str, worker: str, *, epoch: int, draining: bool) -> bool:
    """Write a heartbeat; return False if other workers have given this worker up."""
    where = {"org": org, "worker": worker, "epoch": epoch}
    change = f"UPDATE workers SET beat_at = :now, draining = :draining WHERE {_THIS} AND epoch = :epoch"
    return bool(session.run(change, **where, draining=int(draining), now=session.now))


def is_current(session: Session, org: str, worker: str, *, epoch: int) -> bool:
    """Return whether a worker still has an epoch; it keeps it until this transaction ends."""
    found = f"SELECT 1 FROM workers WHERE {_THIS} AND epoch = :epoch FOR SHARE"
    return bool(session.rows(found, org=org, worker=worker, epoch=epoch))


def gone(session: Session, org: str, *, before: str) -> list[str]:
    """List the workers whose last heartbeat was before a time."""
    rows = session.rows(
        "SELECT worker FROM workers WHERE org = :org AND beat_at < :before", org=org, before=before
    )
    return [str(row["worker"]) for row in rows]


def give_up(session: Session, org: str, worker: str, *, before: str) -> bool:
    """Give up a worker whose last heartbeat was before a time; return False if a newer heartbeat exists."""
    change = f"UPDATE workers SET epoch = epoch + 1 WHERE {_THIS} AND beat_at < :before"
    return bool(session.run(change, org=org, worker=worker, before=before))


def earlier(now: str, seconds: float) -> str:
    """Return the time `seconds` before `now`."""
    then = datetime.fromisoformat(now) - timedelta(seconds=seconds)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@lru_cache(maxsize=1)
def machine_id() -> str:
    """Return an id of this machine that survives reboots."""
    for file in _MACHINE:
        with suppress(OSError):
            if written := file.read_text(encoding="ascii", errors="replace").strip():
                return written
    return f"{os.uname().nodename}/{uuid.getnode():x}"


def worker_id(home: Home) -> str:
    """Return the id of this folder's worker; create it on first use. The caller holds the worker's lock.

    A copy of the folder, on another machine or on this one, gets its own id: two workers with one id would
    each treat the other's segments as its own.
    """
    file = home.worker_id
    with suppress(FileNotFoundError, ValueError, KeyError):
        identity = json.loads(file.read_bytes())
        if (identity["machine"], identity["inode"]) == (machine_id(), file.stat().st_ino):
            return str(identity["worker"])
    fresh = file.with_name(f".{file.name}.new")
    with fresh.open("w", encoding="ascii") as opened:
        worker = new_id()
        identity = {"worker": worker, "machine": machine_id(), "inode": os.fstat(opened.fileno()).st_ino}
        json.dump(identity, opened)
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(file)
    return worker
