"""Workers and their heartbeats, by the database's clock.

A worker that others gave up learns this from its next heartbeat, which is rejected.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from asbuilt.journal.database.table import insert

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_THIS: Final = "org = :org AND worker = :worker"


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


def beat(session: Session, org: str, worker: str, *, epoch: int, draining: bool) -> bool:
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
