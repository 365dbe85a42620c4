"""Workers and their heartbeats, by the database's clock.

A worker that others gave up learns this from its next heartbeat, which is rejected.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


class Worker(NamedTuple):
    """A worker and its last heartbeat."""

    worker: str
    host: str
    pid: int
    build: str
    beat_at: str
    draining: int
    epoch: int


def register(session: Session, org: str, worker: str, *, host: str, pid: int, build: str) -> int:
    """Register a worker; return its epoch, which no earlier worker of this id had."""
    rows = session.rows(
        "INSERT INTO workers (org, worker, host, pid, build, beat_at, draining, epoch)"
        " VALUES (:org, :worker, :host, :pid, :build, :now, 0, 1)"
        " ON CONFLICT (org, worker) DO UPDATE SET host = :host, pid = :pid, build = :build, beat_at = :now,"
        " draining = 0, epoch = workers.epoch + 1 RETURNING epoch",
        org=org,
        worker=worker,
        host=host,
        pid=pid,
        build=build,
        now=session.now,
    )
    return int(rows[0]["epoch"])


def beat(session: Session, org: str, worker: str, *, epoch: int, draining: bool) -> bool:
    """Write a heartbeat; return False if other workers have given this worker up."""
    return bool(
        session.run(
            "UPDATE workers SET beat_at = :now, draining = :draining"
            " WHERE org = :org AND worker = :worker AND epoch = :epoch",
            org=org,
            worker=worker,
            epoch=epoch,
            draining=int(draining),
            now=session.now,
        )
    )


def give_up(session: Session, org: str, worker: str, *, before: str) -> bool:
    """Give up a worker whose last heartbeat was before a time; return False if a newer heartbeat exists."""
    session.run(
        "UPDATE workers SET epoch = epoch + 1 WHERE org = :org AND worker = :worker AND beat_at < :before",
        org=org,
        worker=worker,
        before=before,
    )
    alive = session.rows(
        "SELECT 1 FROM workers WHERE org = :org AND worker = :worker AND beat_at >= :before",
        org=org,
        worker=worker,
        before=before,
    )
    return not alive


def every(session: Session, org: str) -> list[Worker]:
    """List the workers, the most recent heartbeat first."""
    rows = session.rows(
        "SELECT worker, host, pid, build, beat_at, draining, epoch FROM workers WHERE org = :org"
        " ORDER BY beat_at DESC, worker LIMIT 200",
        org=org,
    )
    return [Worker(**row) for row in rows]


def earlier(now: str, seconds: float) -> str:
    """Return the time `seconds` before `now`."""
    then = datetime.fromisoformat(now) - timedelta(seconds=seconds)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
