"""Ownership of segments. Rule: the number is the fencing token; a closed segment belongs to no worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.journal.repositories import worked_in
from asbuilt.journal.runs import FAR, KNOWN_NEEDS, SEGMENT, Segment, plan_segment

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


class Held(NamedTuple):
    """A due segment of a worker, and whether a stop of its run was requested."""

    segment: Segment
    is_stopped: bool


_KNOWN: Final = (
    " AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.org = segments.org AND runs.repo = segments.repo"
    f" AND runs.run = segments.run AND runs.needs > {KNOWN_NEEDS})"
)
"""Leaves out the runs that need a newer worker."""


def held(session: Session, org: str, worker: str) -> list[Held]:
    """List the due segments of a worker; segments that wait for later are not read."""
    columns = ", ".join(f"segments.{name}" for name in SEGMENT.split(", "))
    rows = session.rows(
        f"SELECT {columns}, runs.stop FROM segments JOIN runs ON runs.org = segments.org"
        " AND runs.repo = segments.repo AND runs.run = segments.run"
        " WHERE segments.org = :org AND segments.worker = :worker AND segments.closed_at IS NULL"
        f" AND segments.due_at <= :now AND runs.needs <= {KNOWN_NEEDS}"
        " ORDER BY segments.due_at, segments.run",
        org=org,
        worker=worker,
        now=session.now,
    )
    return [Held(Segment(*(row[name] for name in Segment._fields)), row["stop"] is not None) for row in rows]


def is_free_due(session: Session, org: str, *, machine: str | None) -> bool:
    """Return whether a segment is due that no worker has."""
    found = session.rows(
        "SELECT 1 FROM segments WHERE org = :org AND closed_at IS NULL AND worker IS NULL"
        f" AND due_at <= :now{worked_in('segments', machine)}{_KNOWN} LIMIT 1",
        org=org,
        machine=machine,
        now=session.now,
    )
    return bool(found)


def claim(session: Session, org: str, worker: str, *, machine: str | None, at_most: int) -> None:
    """Claim due segments that no worker has, the earliest first; concurrent claims get different segments."""
    session.run(
        "UPDATE segments SET worker = :worker WHERE (org, repo, run, n) IN ("
        "SELECT org, repo, run, n FROM segments WHERE org = :org AND closed_at IS NULL AND worker IS NULL"
        f" AND due_at <= :now{worked_in('segments', machine)}{_KNOWN}"
        " ORDER BY due_at, run LIMIT :at_most FOR UPDATE SKIP LOCKED)",
        org=org,
        worker=worker,
        machine=machine,
        at_most=at_most,
        now=session.now,
    )


def goes_on(session: Session, org: str, worker: str, *, machine: str | None = None) -> bool:
    """Return whether a segment of this worker, or of none, will continue automatically, now or later."""
    found = session.rows(
        "SELECT 1 FROM segments WHERE org = :org AND closed_at IS NULL AND due_at < :far"
        f" AND (worker IS NULL OR worker = :worker){worked_in('segments', machine)}{_KNOWN} LIMIT 1",
        org=org,
        worker=worker,
        machine=machine,
        far=FAR,
    )
    return bool(found)


def is_open(session: Session, segment: Segment, *, hold: bool = True) -> bool:
    """Return whether a segment is open; with `hold`, it stays open until this transaction ends."""
    found = session.rows(
        "SELECT 1 FROM segments WHERE org = :org AND repo = :repo AND run = :run AND n = :n"
        f" AND closed_at IS NULL{' FOR SHARE' if hold else ''}",
        org=segment.org,
        repo=segment.repo,
        run=segment.run,
        n=segment.n,
    )
    return bool(found)


def follow(session: Session, done: Segment, *, due_at: str, why: str, by: str | None = None) -> bool:
    """Close a segment and plan the next; return False and do nothing if it was closed before.

    The next segment stays with the same worker, which has the run's workspace; `by` names another, "" any
    worker.
    """
    closed = session.rows(
        "UPDATE segments SET closed_at = :now WHERE org = :org AND repo = :repo AND run = :run AND n = :n"
        " AND closed_at IS NULL RETURNING worker",
        org=done.org,
        repo=done.repo,
        run=done.run,
        n=done.n,
        now=session.now,
    )
    if not closed:
        return False
    worker = (closed[0]["worker"] if by is None else by) or None
    plan_segment(session, Segment(done.org, done.repo, done.run, done.n + 1, due_at, why, worker))
    return True


def owners(session: Session, segment: Segment) -> tuple[str | None, str | None]:
    """Return the worker of the previous segment and the worker of this segment."""
    rows = session.rows(
        "SELECT worker FROM segments WHERE org = :org AND repo = :repo AND run = :run AND n <= :n"
        " ORDER BY n DESC LIMIT 2",
        org=segment.org,
        repo=segment.repo,
        run=segment.run,
        n=segment.n,
    )
    return (rows[-1]["worker"], rows[0]["worker"]) if rows else (None, None)


def of_lost(session: Session, org: str, *, before: str, machine: str | None) -> list[Segment]:
    """List due segments of workers that are gone or whose last heartbeat was before a time, at most 100."""
    rows = session.rows(
        f"SELECT {SEGMENT} FROM segments WHERE org = :org AND closed_at IS NULL AND worker IS NOT NULL"
        " AND due_at <= :now AND NOT EXISTS (SELECT 1 FROM workers WHERE workers.org = segments.org"
        " AND workers.worker = segments.worker AND workers.beat_at >= :before)"
        f"{worked_in('segments', machine)} ORDER BY due_at, run LIMIT 100",
        org=org,
        before=before,
        machine=machine,
        now=session.now,
    )
    return [Segment(**row) for row in rows]


def adopt(session: Session, org: str, worker: str) -> int:
    """Assign all open segments of other workers to one worker: SQLite has only one."""
    return session.run(
        "UPDATE segments SET worker = :worker WHERE org = :org AND closed_at IS NULL"
        " AND worker IS NOT NULL AND worker <> :worker",
        org=org,
        worker=worker,
    )
