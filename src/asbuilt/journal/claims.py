"""Ownership of plans: one row per plan, until its owner releases it or a user breaks it."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.runs import ClaimAcquired, ClaimBroken, ClaimReleased
from asbuilt.journal.database.table import OF_PLAN, Table, insert
from asbuilt.journal.events import append

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address


OWNER: Final = "owner"
"""Mode of a claim that another program holds, by `asbuilt claim acquire`."""
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


_CLAIMS: Final = Table("claims", Claim, Claim._fields)


class Acquired(NamedTuple):
    """Result of an attempt to claim a plan, and the current claim."""

    answer: Answer
    claim: Claim


def acquire(session: Session, address: Address, *, run: str, mode: str, host: str, actor: str) -> Acquired:
    """Claim a plan for a run; a repeat returns the same claim. Of two concurrent claims exactly one wins.

    The epoch rises with every new owner and is never reused, so that a replaced owner can be recognized. It
    is at least the seconds since 2020, so that a journal restored from a backup does not reuse an epoch.
    """
    where = address._asdict()
    # The head row serializes competitors: its holder sees what the other has done.
    head = session.rows(
        f"UPDATE heads SET changed_at = :now WHERE {OF_PLAN} RETURNING epoch", **where, now=session.now
    )
    held = find(session, address)
    if held is not None:
        return Acquired(Answer.YOURS if held.run == run else Answer.HELD, held)
    # They fit a Postgres integer until 2088.
    since_2020 = datetime.fromisoformat(session.now) - _BEGINNING
    epoch = max(int(head[0]["epoch"] if head else 0) + 1, int(since_2020.total_seconds()))
    claim = Claim(address.plan, run, epoch, mode, None, host, session.now)
    insert(session, "claims", **where | claim._asdict())
    session.run(f"UPDATE heads SET epoch = :epoch WHERE {OF_PLAN}", **where, epoch=epoch)
    event = ClaimAcquired(epoch=epoch, mode=mode, host=host)
    append(session, address, event, key=f"{run}/claim/{epoch}", actor=actor, run=run)
    return Acquired(Answer.YOURS, claim)


def release(session: Session, address: Address, *, run: str, actor: str) -> Answer:
    """Release a plan; no claim is fine, and another run's claim stays."""
    held = find(session, address)
    if held is None:
        return Answer.YOURS
    if held.run != run:
        return Answer.OWNER_MISMATCH
    _delete(session, address)
    event, key = ClaimReleased(epoch=held.epoch), f"{run}/release/{held.epoch}"
    append(session, address, event, key=key, actor=actor, run=run)
    return Answer.YOURS


def break_(session: Session, address: Address, *, reason: str, actor: str) -> Claim | None:
    """Break a claim at a user's request, and record it."""
    held = find(session, address)
    if held is None:
        return None
    _delete(session, address)
    event, key = ClaimBroken(epoch=held.epoch, reason=reason[:500]), f"{held.run}/broken/{held.epoch}"
    append(session, address, event, key=key, actor=actor, run=held.run)
    return held


def set_phase(session: Session, address: Address, *, run: str, phase: str) -> Answer:
    """Record which phase the owner works on."""
    held = find(session, address)
    if held is None:
        return Answer.ABSENT
    if held.run != run:
        return Answer.OWNER_MISMATCH
    session.run(f"UPDATE claims SET phase = :phase WHERE {OF_PLAN}", **address._asdict(), phase=phase)
    return Answer.YOURS


def find(session: Session, address: Address) -> Claim | None:
    """Return the claim on a plan, or None."""
    return _CLAIMS.first(session, OF_PLAN, **address._asdict())


def every(session: Session, org: str, repo: str | None = None, *, limit: int = 200) -> list[Claim]:
    """List the claims of a repository, or of all."""
    where = f"org = :org{'' if repo is None else ' AND repo = :repo'} ORDER BY since LIMIT :limit"
    return _CLAIMS.every(session, where, org=org, repo=repo, limit=limit)


def _delete(session: Session, address: Address) -> None:
    session.run(f"DELETE FROM claims WHERE {OF_PLAN}", **address._asdict())
