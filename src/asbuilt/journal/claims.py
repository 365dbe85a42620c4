"""Who owns a plan: one row, no expiry. A claim ends only when its owner lets go or a person breaks it."""

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
    """What a claim is answered, as the exit code that `asbuilt claim` gives."""

    YOURS = 0
    HELD = 10
    OWNER_MISMATCH = 12
    ABSENT = 2


class Claim(NamedTuple):
    """An ownership as it stands."""

    plan: str
    run: str
    epoch: int
    mode: str
    phase: str | None
    host: str
    since: str


class Acquired(NamedTuple):
    """How an attempt to own a plan came out, and who owns it now."""

    answer: Answer
    claim: Claim


def acquire(session: Session, address: Address, *, run: str, mode: str, host: str, actor: str) -> Acquired:
    """Take a plan for a run; taking it again is the same claim. Of two at once exactly one wins.

    The epoch rises with every new owner and never comes back, so that whoever was replaced can be told apart.
    It follows the clock, so that not even a journal restored from a copy gives one a second time.
    """
    # The head row orders the competitors: whoever holds it sees what the other has done.
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
    """Let go of a plan; nothing to let go of is fine, somebody else's claim stays."""
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
    """Take a claim away from its owner, by a person's word and with a record of it."""
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
    """Note which phase the owner works on."""
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
    """Return who owns a plan, if anybody does."""
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
    """Count the seconds since 2020: a Postgres integer has room for them until 2088."""
    return int((datetime.fromisoformat(now) - _BEGINNING).total_seconds())


_COLUMNS = "plan, run, epoch, mode, phase, host, since"


def _claim(row: Row) -> Claim:
    return Claim(**row)


def _delete(session: Session, address: Address) -> None:
    session.run("DELETE FROM claims WHERE org = :org AND repo = :repo AND plan = :plan", **address._asdict())
