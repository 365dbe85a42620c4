"""Work of a fleet: runs that any worker may take, and the workers with what they offer.

Rule: a worker takes a waiting segment in one conditional update, so that no two workers start it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UNSET

from asbuilt.events.runs import RunTakenOver
from asbuilt.journal.database.table import OF_RUN
from asbuilt.journal.engine.segments import KNOWN
from asbuilt.journal.events import append
from asbuilt.journal.ids import Segment
from asbuilt.journal.runs import KNOWN_NEEDS, Run, find

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_SEGMENT: Final = ", ".join(f"segment.{name}" for name in Segment._fields)
_JOIN: Final = (
    "segments AS segment JOIN runs AS run ON run.org = segment.org AND run.repo = segment.repo"
    " AND run.run = segment.run"
)
_WAITS: Final = (
    "segment.org = :org AND segment.asked = 1 AND segment.closed_at IS NULL"
    f" AND run.place LIKE 'fleet%' AND run.needs <= {KNOWN_NEEDS}"
)
_THIS: Final = f"{OF_RUN} AND n = :n"


def _unheld(table: str, besides: str) -> str:
    """Return SQL that leaves out segments that a worker has which is alive since `:since`, but for some."""
    return (
        f" AND NOT EXISTS (SELECT 1 FROM workers WHERE workers.org = {table}.org"
        f" AND workers.worker = {table}.executor AND workers.worker NOT IN ({besides})"
        " AND workers.beat_at >= :since)"
    )


class Waiting(NamedTuple):
    """A segment of the fleet that no worker has taken, and the place for which it waits."""

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
    rows = session.rows(f"SELECT place FROM runs WHERE {OF_RUN}", **segment.key)
    return rows[0]["place"] if rows else None


def is_fleets(session: Session, segment: Segment) -> bool:
    """Return whether any worker of the fleet may take a segment."""
    return (place_of(session, segment) or "").partition(" ")[0] == "fleet"


def waiting(session: Session, org: str, *, limit: int = 100) -> list[Waiting]:
    """List the fleet's segments that no worker has taken, the earliest due first."""
    rows = session.rows(
        f"SELECT {_SEGMENT}, run.place FROM {_JOIN} WHERE {_WAITS}"
        " ORDER BY segment.due_at, segment.run LIMIT :limit",
        org=org,
        limit=limit,
    )
    return [Waiting(Segment(**{k: v for k, v in row.items() if k != "place"}), row["place"]) for row in rows]


def places(session: Session, org: str) -> list[str]:
    """List the places for which a segment waits."""
    rows = session.rows(f"SELECT DISTINCT run.place FROM {_JOIN} WHERE {_WAITS}", org=org)
    return [row["place"] for row in rows]


def next_for(
    session: Session, org: str, worker: str, *, places: Sequence[str], alive_since: str, limit: int
) -> list[Segment]:
    """List what a worker takes next at some places, unless another live worker has the run's workspace.

    A run that has begun comes before one that has not, and each repository has its turn.
    """
    named = {f"place_{at}": place for at, place in enumerate(places)}
    given = {"org": org, "worker": worker, "since": alive_since, "limit": limit, **named}
    rows = session.rows(
        f"SELECT {_SEGMENT} FROM {_JOIN} WHERE {_WAITS}"
        f" AND run.place IN ({', '.join(f':{name}' for name in named)})"
        f"{_unheld('segment', ':worker')}"
        " ORDER BY segment.n = 1, row_number() OVER (PARTITION BY segment.repo, segment.n = 1"
        " ORDER BY segment.due_at, segment.run), segment.due_at, segment.run LIMIT :limit",
        **given,
    )
    return [Segment(**row) for row in rows]


def newest(session: Session, org: str) -> list[Run]:
    """List the newest run of the fleet in each repository."""
    rows = session.rows(
        "SELECT repo, max(run) AS run FROM runs WHERE org = :org AND place LIKE 'fleet%' GROUP BY repo",
        org=org,
    )
    found = (find(session, org, row["repo"], row["run"]) for row in rows)
    return [run for run in found if run is not None]


def take(session: Session, segment: Segment, *, worker: str) -> bool:
    """Enqueue a waiting segment for a worker; return False if another worker has taken it."""
    change = f"asked = 0, executor = :worker WHERE {_THIS} AND asked = 1 AND closed_at IS NULL"
    if not _assigned(session, segment, worker, change):
        return False
    session.enqueue(segment._replace(executor=worker))
    return True


def withdraw(session: Session, run: Run) -> bool:
    """Close a run of the fleet that no worker has taken yet; return False if one has, or had."""
    if run.options.fleet is UNSET:
        return False
    change = (
        f"UPDATE segments SET asked = 0, closed_at = :now WHERE {OF_RUN} AND n = 1 AND asked = 1"
        " AND executor IS NULL AND closed_at IS NULL"
    )
    return bool(session.run(change, org=run.org, repo=run.repo, run=run.run, now=session.now))


def take_over(session: Session, segment: Segment, *, lost: str, worker: str, alive_since: str) -> bool:
    """Give a segment of a lost worker to another; False if a live one has it, or it needs a newer one.

    A worker may have taken it over and died before the engine knew, so the lost one need not have it still.
    """
    change = (
        f"token = token + 1, executor = :worker WHERE {_THIS} AND closed_at IS NULL"
        f"{_unheld('segments', ':lost, :worker')}{KNOWN}"
    )
    return _assigned(session, segment, worker, change, lost=lost, since=alive_since)


def _assigned(session: Session, segment: Segment, worker: str, change: str, **given: str) -> bool:
    """Assign a segment to a worker before it starts it, so that its loss is seen; record from whom."""
    if not session.run(f"UPDATE segments SET {change}", **segment.key, worker=worker, **given):
        return False
    run = find(session, segment.org, segment.repo, segment.run)
    if run is not None and segment.executor not in (None, worker):
        moved = RunTakenOver(lost=segment.executor, by=worker, phase=segment.lane or None)
        name = f"{run.run}/taken/{segment.n}/{worker}/{session.now}"
        append(session, run.address, moved, key=name, actor="asbuilt", run=run.run)
    return True


def offer(session: Session, org: str, worker: str, *, labels: frozenset[str], slots: int) -> None:
    """Record what a worker offers to the fleet."""
    change = "UPDATE workers SET labels = :labels, slots = :slots WHERE org = :org AND worker = :worker"
    session.run(change, org=org, worker=worker, labels=" ".join(sorted(labels)), slots=slots)


def members(session: Session, org: str, *, since: str, limit: int = 500) -> list[Member]:
    """List the workers with a heartbeat since a time, the newest heartbeat first."""
    given = {"org": org, "since": since, "now": session.now, "limit": limit}
    rows = session.rows(
        "SELECT worker, host, build, beat_at, draining, labels, slots, (SELECT count(*) FROM segments"
        " WHERE segments.org = workers.org AND segments.executor = workers.worker"
        " AND segments.closed_at IS NULL AND segments.due_at <= :now) AS busy"
        " FROM workers WHERE org = :org AND beat_at >= :since ORDER BY beat_at DESC, worker LIMIT :limit",
        **given,
    )
    return [
        Member(**{**row, "draining": bool(row["draining"]), "labels": frozenset(row["labels"].split())})
        for row in rows
    ]
