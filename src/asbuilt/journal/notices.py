"""Notifications that are still to be sent: which event, by which channel (`way`), and when.

Rule: the text is made from the event at sending time; it is not stored here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.journal.ids import Address

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.journal.database.store import Session
    from asbuilt.journal.runs import Run

_COLUMNS: Final = "org, repo, plan, key, way, run, due_at, tries"
_MINE: Final = "org = :org AND repo = :repo AND plan = :plan AND key = :key AND way = :way"
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


@dataclass(frozen=True, slots=True)
class Unheard:
    """The last error of a channel."""

    way: str
    said: str
    at: str


def queue(session: Session, run: Run, key: str, ways: Iterable[str], *, due_at: str) -> None:
    """Queue an event to be sent by some channels."""
    for way in ways:
        session.run(
            "INSERT INTO notices (org, repo, plan, key, way, run, due_at, tries)"
            " VALUES (:org, :repo, :plan, :key, :way, :run, :due_at, 0)"
            " ON CONFLICT (org, repo, plan, key, way) DO NOTHING",
            **run.address._asdict(),
            key=key,
            way=way,
            run=run.run,
            due_at=due_at,
        )


def is_due(session: Session, org: str, way: str) -> bool:
    """Return whether a notification of a channel is due."""
    found = session.rows(
        "SELECT 1 FROM notices WHERE org = :org AND way = :way AND done_at IS NULL AND due_at <= :now"
        " LIMIT 1",
        org=org,
        way=way,
        now=session.now,
    )
    return bool(found)


def next_due(session: Session, org: str, way: str) -> list[Waiting]:
    """Lock and return the notifications of a channel that are due at the earliest time, at most 100."""
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM notices WHERE org = :org AND way = :way AND done_at IS NULL AND due_at ="
        " (SELECT min(due_at) FROM notices WHERE org = :org AND way = :way AND done_at IS NULL)"
        " AND due_at <= :now ORDER BY repo, plan, key LIMIT :at_once FOR UPDATE SKIP LOCKED",
        org=org,
        way=way,
        now=session.now,
        at_once=_AT_ONCE,
    )
    return [Waiting(**row) for row in rows]


def put_off(session: Session, waiting: Sequence[Waiting], *, until: str) -> None:
    """Count a try, and set the time of the next try in case no result is recorded."""
    for one in waiting:
        session.run(
            f"UPDATE notices SET due_at = :until, tries = tries + 1 WHERE {_MINE}",
            **_named(one),
            until=until,
        )


def answered(session: Session, waiting: Sequence[Waiting], *, said: str | None, is_over: bool) -> None:
    """Record the result of a try; `said` is the error, None on success."""
    for one in waiting:
        session.run(
            f"UPDATE notices SET said = :said, said_at = :now, done_at = :done_at WHERE {_MINE}",
            **_named(one),
            said=said,
            now=session.now,
            done_at=session.now if is_over else None,
        )


def waits(session: Session, org: str, ways: Sequence[str]) -> bool:
    """Return whether any notification of some channels is still to be sent, now or later."""
    return any(
        session.rows(
            "SELECT 1 FROM notices WHERE org = :org AND way = :way AND done_at IS NULL LIMIT 1",
            org=org,
            way=way,
        )
        for way in ways
    )


def unheard(session: Session, org: str) -> list[Unheard]:
    """Return the last error of each channel whose last try failed, from the last 200 results."""
    rows = session.rows(
        "SELECT way, said, said_at AS at FROM notices WHERE org = :org AND said_at IS NOT NULL"
        " ORDER BY said_at DESC, key LIMIT 200",
        org=org,
    )
    last = {row["way"]: row for row in reversed(rows)}
    return [Unheard(**row) for _, row in sorted(last.items()) if row["said"] is not None]


def forget(session: Session, org: str, *, before: str) -> int:
    """Delete notifications that were finished before a time; return their number."""
    return session.run("DELETE FROM notices WHERE org = :org AND done_at < :before", org=org, before=before)


def _named(one: Waiting) -> dict[str, str]:
    return {"org": one.org, "repo": one.repo, "plan": one.plan, "key": one.key, "way": one.way}
