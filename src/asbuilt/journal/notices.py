"""What is still to be sent to a person who does not look on: which event, by which way, and when.

The one rule: what it says is read from its event when it is sent, so that it is nowhere twice.
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
    """One event that somebody is to hear of by one way."""

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
        """Whose event it is."""
        return Address(self.org, self.repo, self.plan)


@dataclass(frozen=True, slots=True)
class Unheard:
    """The last that kept a way from being heard."""

    way: str
    said: str
    at: str


def queue(session: Session, run: Run, key: str, ways: Iterable[str], *, due_at: str) -> None:
    """Write down that an event is to be sent by some ways."""
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
    """Tell whether anything is due by a way."""
    found = session.rows(
        "SELECT 1 FROM notices WHERE org = :org AND way = :way AND done_at IS NULL AND due_at <= :now"
        " LIMIT 1",
        org=org,
        way=way,
        now=session.now,
    )
    return bool(found)


def next_due(session: Session, org: str, way: str) -> list[Waiting]:
    """Hold what is due by a way: all that falls due at the same moment is sent at once."""
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
    """Write down that these are tried now, and when again if nothing is heard of it."""
    for one in waiting:
        session.run(
            f"UPDATE notices SET due_at = :until, tries = tries + 1 WHERE {_MINE}",
            **_named(one),
            until=until,
        )


def answered(session: Session, waiting: Sequence[Waiting], *, said: str | None, is_over: bool) -> None:
    """Write down what came of a try; `said` is what kept it from being heard."""
    for one in waiting:
        session.run(
            f"UPDATE notices SET said = :said, said_at = :now, done_at = :done_at WHERE {_MINE}",
            **_named(one),
            said=said,
            now=session.now,
            done_at=session.now if is_over else None,
        )


def waits(session: Session, org: str, ways: Sequence[str]) -> bool:
    """Tell whether anything is still to be sent by some ways, now or later."""
    return any(
        session.rows(
            "SELECT 1 FROM notices WHERE org = :org AND way = :way AND done_at IS NULL LIMIT 1",
            org=org,
            way=way,
        )
        for way in ways
    )


def unheard(session: Session, org: str) -> list[Unheard]:
    """Tell of each way whose last answer was none what was the matter."""
    rows = session.rows(
        "SELECT way, said, said_at AS at FROM notices WHERE org = :org AND said_at IS NOT NULL"
        " ORDER BY said_at DESC, key LIMIT 200",
        org=org,
    )
    last = {row["way"]: row for row in reversed(rows)}
    return [Unheard(**row) for _, row in sorted(last.items()) if row["said"] is not None]


def forget(session: Session, org: str, *, before: str) -> int:
    """Let go of what was over before a time."""
    return session.run("DELETE FROM notices WHERE org = :org AND done_at < :before", org=org, before=before)


def _named(one: Waiting) -> dict[str, str]:
    return {"org": one.org, "repo": one.repo, "plan": one.plan, "key": one.key, "way": one.way}
