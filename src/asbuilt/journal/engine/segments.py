"""Execution of segments. Rule: only the newest execution of an open segment may write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.journal.database.table import OF_RUN, Table
from asbuilt.journal.ids import Segment
from asbuilt.journal.repositories import worked_in
from asbuilt.journal.runs import FAR, KNOWN_NEEDS, SEGMENTS, plan_segment

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

_THIS: Final = f"{OF_RUN} AND n = :n"
_OPEN: Final = f"{_THIS} AND closed_at IS NULL"
KNOWN: Final = (
    " AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.org = segments.org AND runs.repo = segments.repo"
    f" AND runs.run = segments.run AND runs.needs > {KNOWN_NEEDS})"
)
"""Leaves out the runs that need a newer worker."""


def _placed(machine: str | None) -> str:
    """Return SQL that leaves out runs that work elsewhere: in the fleet, or on another machine."""
    here = "" if machine is None else " AND runs.place <> :machine"
    return (
        " AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.org = segments.org AND runs.repo = segments.repo"
        f" AND runs.run = segments.run AND runs.place IS NOT NULL{here})"
    )


class Begun(NamedTuple):
    """A new execution of a segment."""

    token: int
    before: str | None
    lane: str


def asked(session: Session, org: str, *, machine: str | None, limit: int = 100) -> list[Segment]:
    """List the segments that a worker has to enqueue, the earliest due first."""
    here = f"{worked_in('segments', machine)}{KNOWN}{_placed(machine)}"
    where = f"org = :org AND asked = 1{here} ORDER BY due_at, run LIMIT :limit"
    return SEGMENTS.every(session, where, org=org, machine=machine, limit=limit)


def enqueue(session: Session, segment: Segment) -> None:
    """Enqueue a segment that was asked for, unless another worker has done so or it is closed."""
    was_asked = session.run(f"UPDATE segments SET asked = 0 WHERE {_THIS} AND asked = 1", **segment.key)
    if was_asked and is_open(session, segment):
        session.enqueue(segment)


def ask_again(session: Session, org: str, *, before: str) -> int:
    """Ask a worker to enqueue every open segment that is due before a time; return their number.

    The engine ignores segments that it has. Those that it lost, or ended without closing them, start again.
    """
    change = "UPDATE segments SET asked = 1 WHERE org = :org AND closed_at IS NULL AND due_at < :before"
    changed = session.run(change, org=org, before=before)
    session.wake()
    return changed


def will_continue(session: Session, org: str, worker: str, *, machine: str | None = None) -> bool:
    """Return whether a segment of this worker, or of none, will continue automatically, now or later."""
    given = {"org": org, "worker": worker, "machine": machine, "far": FAR}
    where = f"org = :org AND closed_at IS NULL AND due_at < :far{worked_in('segments', machine)}{KNOWN}"
    # Joined by OR into one query, Postgres would read all runs to answer the second part.
    return SEGMENTS.has(session, f"{where} AND executor = :worker", **given) or SEGMENTS.has(
        session, f"{where} AND executor IS NULL{_placed(machine)}", **given
    )


def unbegun(session: Session, org: str, *, limit: int) -> list[str]:
    """List the due times of segments that are due and that no worker has started, the earliest first."""
    where = (
        "org = :org AND closed_at IS NULL AND due_at <= :now AND token = 0 ORDER BY due_at, run LIMIT :limit"
    )
    return [
        segment.due_at for segment in SEGMENTS.every(session, where, org=org, now=session.now, limit=limit)
    ]


def is_open(session: Session, segment: Segment) -> bool:
    """Return whether a segment exists and is not closed."""
    return SEGMENTS.has(session, _OPEN, **segment.key)


def token_of(session: Session, segment: Segment) -> int | None:
    """Return the token that may write until this transaction ends; None if the segment is closed."""
    rows = session.rows(f"SELECT token FROM segments WHERE {_OPEN} FOR SHARE", **segment.key)
    return int(rows[0]["token"]) if rows else None


def begin(session: Session, segment: Segment, *, worker: str) -> Begun | None:
    """Let a new execution write, in place of any earlier one; None if the segment is closed."""
    rows = session.rows(f"SELECT executor, lane FROM segments WHERE {_THIS} FOR SHARE", **segment.key)
    change = f"UPDATE segments SET executor = :worker, token = token + 1 WHERE {_OPEN} RETURNING token"
    begun = session.rows(change, **segment.key, worker=worker)
    return Begun(int(begun[0]["token"]), rows[0]["executor"], rows[0]["lane"]) if begun else None


def release(session: Session, segment: Segment) -> bool:
    """Let no execution of a segment write that has started; return False if it is closed."""
    return bool(session.run(f"UPDATE segments SET token = token + 1 WHERE {_OPEN}", **segment.key))


def close(session: Session, segment: Segment) -> bool:
    """Close a segment; return False if it was closed before."""
    # A worker that starts asks for every due segment, also for one that is at work elsewhere.
    change = f"UPDATE segments SET closed_at = :now, asked = 0 WHERE {_OPEN}"
    return bool(session.run(change, **segment.key, now=session.now))


def follow(session: Session, done: Segment, *, due_at: str, why: str, account: str = "") -> bool:
    """Close a segment and plan the next of its lane; return False and do nothing if it was closed before.

    The next segment stays with the same worker, which has the lane's workspace. Segments of all lanes of a
    run are numbered together, so the caller holds the plan's head (`events.hold`, or an event).
    """
    if not close(session, done):
        return False
    plan_segment(session, done._replace(n=_next(session, done), due_at=due_at, why=why, account=account))
    return True


def fork(session: Session, segment: Segment, lane: str) -> None:
    """Plan the first segment of a lane, due now, for any worker; the caller holds the plan's head."""
    n = _next(session, segment)
    plan_segment(session, segment._replace(n=n, due_at=session.now, why="fork", executor=None, lane=lane))


def others_work(session: Session, segment: Segment) -> bool:
    """Return whether another segment of the same run is due or in progress."""
    where = f"{OF_RUN} AND n != :n AND closed_at IS NULL AND due_at <= :now"
    return SEGMENTS.has(session, where, **segment.key, now=session.now)


def lane_of(session: Session, segment: Segment) -> str:
    """Return the lane of a segment."""
    rows = session.rows(f"SELECT lane FROM segments WHERE {_THIS}", **segment.key)
    return str(rows[0]["lane"]) if rows else ""


def _next(session: Session, segment: Segment) -> int:
    rows = session.rows(f"SELECT max(n) AS last FROM segments WHERE {OF_RUN}", **segment.key)
    return int(rows[0]["last"]) + 1


def named(session: Session, org: str, workflow: str) -> Segment | None:
    """Return the open segment with a workflow id."""
    run, _, n = workflow.rpartition(".")
    known = "(SELECT org AS o, repo AS r, run AS u FROM runs WHERE org = :org AND run = :run) AS known"
    found = Table(f"segments JOIN {known} ON org = o AND repo = r AND run = u", Segment, Segment._fields)
    where = "n = :n AND closed_at IS NULL"
    return found.first(session, where, org=org, run=run, n=int(n) if n.isdigit() else 0)
