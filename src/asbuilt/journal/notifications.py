"""Notifications to send: event, channel (`way`) and time. Rule: the text is made when it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from asbuilt.journal.database.table import OF_PLAN, Table, insert
from asbuilt.journal.ids import Address

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.runs import Run

_MINE: Final = f"{OF_PLAN} AND key = :key AND way = :way"
_LEFT: Final = "org = :org AND way = :way AND done_at IS NULL"
_AT_ONCE: Final = 100


class Waiting(NamedTuple):
    """A notification about one event by one channel."""

    org: str
    repo: str
    plan: str
    key: str
    way: str
    run: str
    due_at: str
    tries: int

    @property
    def address(self) -> Address:
        """Address of the event's plan."""
        return Address(self.org, self.repo, self.plan)


_NOTICES: Final = Table("notices", Waiting, Waiting._fields)


class Undelivered(Struct, frozen=True):
    """The last error of a channel."""

    way: str
    said: str
    at: str


def queue(session: Session, run: Run, key: str, ways: Iterable[str], *, due_at: str) -> None:
    """Queue an event to be sent by some channels."""
    for way in ways:
        new = Waiting(*run.address, key, way, run.run, due_at, 0)
        insert(session, "notices", "ON CONFLICT (org, repo, plan, key, way) DO NOTHING", **new._asdict())


def is_due(session: Session, org: str, way: str) -> bool:
    """Return whether a notification of a channel is due."""
    return _NOTICES.has(session, f"{_LEFT} AND due_at <= :now", org=org, way=way, now=session.now)


def next_due(session: Session, org: str, way: str) -> list[Waiting]:
    """Lock and return the notifications of a channel that are due at the earliest time, at most 100."""
    where = (
        f"{_LEFT} AND due_at = (SELECT min(due_at) FROM notices WHERE {_LEFT})"
        " AND due_at <= :now ORDER BY repo, plan, key LIMIT :at_once FOR UPDATE SKIP LOCKED"
    )
    return _NOTICES.every(session, where, org=org, way=way, now=session.now, at_once=_AT_ONCE)


def put_off(session: Session, waiting: Sequence[Waiting], *, until: str) -> None:
    """Count a try, and set the time of the next try in case no result is recorded."""
    for wait in waiting:
        change = f"UPDATE notices SET due_at = :until, tries = tries + 1 WHERE {_MINE}"
        session.run(change, **wait._asdict(), until=until)


def answered(session: Session, waiting: Sequence[Waiting], *, error: str | None, is_over: bool) -> None:
    """Record the result of a try; `error` is None on success."""
    change = f"UPDATE notices SET said = :said, said_at = :now, done_at = :done_at WHERE {_MINE}"
    done_at = session.now if is_over else None
    for wait in waiting:
        session.run(change, **wait._asdict(), said=error, now=session.now, done_at=done_at)


def waits(session: Session, org: str, ways: Sequence[str]) -> bool:
    """Return whether any notification of some channels is still to be sent, now or later."""
    return any(_NOTICES.has(session, _LEFT, org=org, way=way) for way in ways)


def undelivered(session: Session, org: str) -> list[Undelivered]:
    """Return the last error of each channel whose last try failed, from the last 200 results."""
    rows = session.rows(
        "SELECT way, said, said_at AS at FROM notices WHERE org = :org AND said_at IS NOT NULL"
        " ORDER BY said_at DESC, key LIMIT 200",
        org=org,
    )
    last = {row["way"]: row for row in reversed(rows)}
    return [Undelivered(**row) for _, row in sorted(last.items()) if row["said"] is not None]


def forget(session: Session, org: str, *, before: str) -> int:
    """Delete notifications that were finished before a time; return their number."""
    return session.run("DELETE FROM notices WHERE org = :org AND done_at < :before", org=org, before=before)
