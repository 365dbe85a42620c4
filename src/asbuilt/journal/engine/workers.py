"""Which workers there are, by the database's clock. One that others have given up is told so, never asked."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


class Worker(NamedTuple):
    """A worker as it was last heard of."""

    worker: str
    host: str
    pid: int
    build: str
    beat_at: str
    draining: int
    epoch: int


def register(session: Session, org: str, worker: str, *, host: str, pid: int, build: str) -> int:
    """Write down that a worker is there; returns its epoch, which no worker of its name had before."""
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
    """Say that a worker lives; False when others have given it up since."""
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
    """Give a worker up that was last heard of before a time; False when it has been heard of since."""
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
    """List the workers, the one that was heard of last first."""
    rows = session.rows(
        "SELECT worker, host, pid, build, beat_at, draining, epoch FROM workers WHERE org = :org"
        " ORDER BY beat_at DESC, worker LIMIT 200",
        org=org,
    )
    return [Worker(**row) for row in rows]


def earlier(now: str, seconds: float) -> str:
    """Return the time that lies so many seconds before another."""
    then = datetime.fromisoformat(now) - timedelta(seconds=seconds)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
