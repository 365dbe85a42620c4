"""Ownership of plans: one row per plan, without expiry.

A claim ends only when its owner releases it or a user breaks it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.runs import ClaimAcquired, ClaimBroken, ClaimReleased
from asbuilt.journal.database.store import first
from asbuilt.journal.events import append

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Row, Session
    from asbuilt.journal.ids import Address


_BEGINNING: Final = datetime(2020, 1, 1, tzinfo=UTC)


class Answer(IntEnum):
    """Result of a claim, and the exit code of `asbuilt claim`."""

    YOURS = 0
    HELD = 10
    OWNER_MISMATCH = 12
    ABSENT = 2


class Claim(NamedTuple):
    """The current claim on a plan."""

    plan: str
    run: str
    epoch: int
    mode: str
    phase: str | None
    host: str
    since: str


class Acquired(NamedTuple):
    """Result of an attempt to claim a plan, and the current claim."""

    answer: Answer
    claim: Claim


def acquire(session: Session, address: Address, *, run: str, mode: str, host: str, actor: str) -> Acquired:
    """Claim a plan for a run; a repeat returns the same claim. Of two concurrent claims exactly one wins.

    The epoch rises with every new owner and is never reused, so that a replaced owner can be recognized. It
    is at least the seconds since 2020, so that a journal restored from a backup does not reuse an epoch.
    """
    # The head row serializes competitors: its holder sees what the other has done.
    head = first(
        session.rows(
            "UPDATE heads SET changed_at = :now"
            " WHERE org = :org AND repo = :repo AND plan = :plan RETURNING epoch",
            **address._asdict(),
            now=session.now,
        )
    )
    held = find(session, address)
    if held is not None:
        return Acquired(Answer.YOURS if held.run == run else Answer.HELD, held)
    epoch = max(int(head["epoch"] if head else 0) + 1, _seconds(session.now))
    claim = Claim(address.plan, run, epoch, mode, None, host, session.now)
    session.run(
        "INSERT INTO claims (org, repo, plan, run, epoch, mode, phase, host, since)"
        " VALUES (:org, :repo, :plan, :run, :epoch, :mode, :phase, :host, :since)",
        org=address.org,
        repo=address.repo,
        **claim._asdict(),
    )
    session.run(
        "UPDATE heads SET epoch = :epoch WHERE org = :org AND repo = :repo AND plan = :plan",
        **address._asdict(),
        epoch=epoch,
    )
    append(
        session,
        address,
        ClaimAcquired(epoch=epoch, mode=mode, host=host),
        key=f"{run}/claim/{epoch}",
        actor=actor,
        run=run,
    )
    return Acquired(Answer.YOURS, claim)


def release(session: Session, address: Address, *, run: str, actor: str) -> Answer:
    """Release a plan; no claim is fine, and another run's claim stays."""
    held = find(session, address)
    if held is None:
        return Answer.YOURS
    if held.run != run:
        return Answer.OWNER_MISMATCH
    _delete(session, address)
    append(
        session,
        address,
        ClaimReleased(epoch=held.epoch),
        key=f"{run}/release/{held.epoch}",
        actor=actor,
        run=run,
    )
    return Answer.YOURS


def break_(session: Session, address: Address, *, reason: str, actor: str) -> Claim | None:
    """Break a claim at a user's request, and record it."""
    held = find(session, address)
    if held is None:
        return None
    _delete(session, address)
    append(
        session,
        address,
        ClaimBroken(epoch=held.epoch, reason=reason[:500]),
        key=f"{held.run}/broken/{held.epoch}",
        actor=actor,
        run=held.run,
    )
    return held


def set_phase(session: Session, address: Address, *, run: str, phase: str) -> Answer:
    """Record which phase the owner works on."""
    held = find(session, address)
    if held is None:
        return Answer.ABSENT
    if held.run != run:
        return Answer.OWNER_MISMATCH
    session.run(
        "UPDATE claims SET phase = :phase WHERE org = :org AND repo = :repo AND plan = :plan",
        **address._asdict(),
        phase=phase,
    )
    return Answer.YOURS


def find(session: Session, address: Address) -> Claim | None:
    """Return the claim on a plan, or None."""
    row = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM claims WHERE org = :org AND repo = :repo AND plan = :plan",
            **address._asdict(),
        )
    )
    return None if row is None else _claim(row)


def every(session: Session, org: str, repo: str | None = None, *, limit: int = 200) -> list[Claim]:
    """List the claims of a repository, or of all."""
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM claims WHERE org = :org{'' if repo is None else ' AND repo = :repo'}"
        " ORDER BY since LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    return [_claim(row) for row in rows]


def _seconds(now: str) -> int:
    """Return the seconds since 2020, which fit a Postgres integer until 2088."""
    return int((datetime.fromisoformat(now) - _BEGINNING).total_seconds())


_COLUMNS = "plan, run, epoch, mode, phase, host, since"


def _claim(row: Row) -> Claim:
    return Claim(**row)


def _delete(session: Session, address: Address) -> None:
    session.run("DELETE FROM claims WHERE org = :org AND repo = :repo AND plan = :plan", **address._asdict())
