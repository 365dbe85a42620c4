"""Work of a fleet: runs that any worker may take, and the workers with what they offer.

Rule: a worker takes a waiting segment in one conditional update, so that no two workers start it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UNSET

from asbuilt.journal.engine.segments import KNOWN
from asbuilt.journal.ids import Segment
from asbuilt.journal.runs import KNOWN_NEEDS, Run

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_SEGMENT: Final = ", ".join(f"segment.{name}" for name in Segment._fields)
_JOIN: Final = (
    "segments AS segment JOIN runs AS run ON run.org = segment.org AND run.repo = segment.repo"
    " AND run.run = segment.run"
)
_THIS: Final = "org = :org AND repo = :repo AND run = :run AND n = :n"


class Waiting(NamedTuple):
    """A segment that a worker of the fleet may take."""

    segment: Segment
    place: str


class Member(NamedTuple):
    """A worker, as it registered."""

    worker: str
    host: str
    build: str
    beat_at: str
    draining: bool
    labels: frozenset[str]
    slots: int
    """Runs at a time; 0: the worker does not take runs of the fleet."""
    busy: int
    """Open segments that it has started."""


def place_of(session: Session, segment: Segment) -> str | None:
    """Return where the run of a segment works; None: on its repository's machine."""
    rows = session.rows(
        "SELECT place FROM runs WHERE org = :org AND repo = :repo AND run = :run",
        org=segment.org,
        repo=segment.repo,
        run=segment.run,
    )
    return rows[0]["place"] if rows else None


def is_fleets(session: Session, segment: Segment) -> bool:
    """Return whether any worker of the fleet may take a segment."""
    return (place_of(session, segment) or "").partition(" ")[0] == "fleet"


def waiting(session: Session, org: str, *, limit: int = 100) -> list[Waiting]:
    """List the fleet's segments that no worker has taken, the earliest due first."""
    rows = session.rows(
        f"SELECT {_SEGMENT}, run.place FROM {_JOIN} WHERE segment.org = :org AND segment.asked = 1"
        f" AND run.place LIKE 'fleet%' AND run.needs <= {KNOWN_NEEDS}"
        " ORDER BY segment.due_at, segment.run LIMIT :limit",
        org=org,
        limit=limit,
    )
    return [Waiting(Segment(**{k: v for k, v in row.items() if k != "place"}), row["place"]) for row in rows]


def take(session: Session, segment: Segment, *, worker: str) -> bool:
    """Enqueue a waiting segment for a worker; return False if another worker has taken it."""
    taken = session.run(
        f"UPDATE segments SET asked = 0 WHERE {_THIS} AND asked = 1 AND closed_at IS NULL",
        org=segment.org,
        repo=segment.repo,
        run=segment.run,
        n=segment.n,
    )
    if taken:
        session.enqueue(segment._replace(executor=worker))
    return bool(taken)


def withdraw(session: Session, run: Run) -> bool:
    """Close a run of the fleet that no worker has taken yet; return False if one has, or had."""
    if run.options.fleet is UNSET:
        return False
    return bool(
        session.run(
            "UPDATE segments SET asked = 0, closed_at = :now WHERE org = :org AND repo = :repo AND run = :run"
            " AND n = 1 AND asked = 1 AND executor IS NULL AND closed_at IS NULL",
            org=run.org,
            repo=run.repo,
            run=run.run,
            now=session.now,
        )
    )


def take_over(session: Session, segment: Segment, *, lost: str) -> bool:
    """Release a segment of a lost worker; return False if another one has, or the run needs a newer one."""
    return bool(
        session.run(
            f"UPDATE segments SET token = token + 1 WHERE {_THIS} AND closed_at IS NULL"
            f" AND (executor = :lost OR executor IS NULL){KNOWN}",
            org=segment.org,
            repo=segment.repo,
            run=segment.run,
            n=segment.n,
            lost=lost,
        )
    )


def offer(session: Session, org: str, worker: str, *, labels: frozenset[str], slots: int) -> None:
    """Record what a worker offers to the fleet."""
    session.run(
        "UPDATE workers SET labels = :labels, slots = :slots WHERE org = :org AND worker = :worker",
        labels=" ".join(sorted(labels)),
        slots=slots,
        org=org,
        worker=worker,
    )


def members(session: Session, org: str, *, since: str, limit: int = 500) -> list[Member]:
    """List the workers with a heartbeat since a time, the newest heartbeat first."""
    rows = session.rows(
        "SELECT worker, host, build, beat_at, draining, labels, slots, (SELECT count(*) FROM segments"
        " WHERE segments.org = workers.org AND segments.executor = workers.worker"
        " AND segments.closed_at IS NULL AND segments.due_at <= :now) AS busy"
        " FROM workers WHERE org = :org AND beat_at >= :since ORDER BY beat_at DESC, worker LIMIT :limit",
        org=org,
        since=since,
        now=session.now,
        limit=limit,
    )
    return [
        Member(**{**row, "draining": bool(row["draining"]), "labels": frozenset(row["labels"].split())})
        for row in rows
    ]
