"""Counts and excerpts of a journal for bug reports. Read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.event import Entry
from asbuilt.journal.events import last
from asbuilt.journal.ids import Address
from asbuilt.journal.queries.plan_names import recent

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


def kinds(session: Session) -> dict[str, int]:
    """Count the events of each kind."""
    rows = session.rows("SELECT kind, count(*) AS n FROM events GROUP BY kind ORDER BY kind")
    return {row["kind"]: int(row["n"]) for row in rows}


def latest(session: Session, org: str, repo: str, *, limit: int) -> list[tuple[str, Entry]]:
    """Return the last events of a repository's plans, oldest first, each with its plan."""
    # Every event updates its plan's head, so the last events belong to the plans that changed last. Events of
    # the same millisecond keep the order of their plans, so that a smaller limit returns the end of a larger
    # one.
    found = [
        (plan, event)
        for plan, _ in reversed(recent(session, org, repo, limit=limit))
        for event in last(session, Address(org, repo, plan), limit=limit)
    ]
    return sorted(found, key=lambda pair: pair[1].at)[-limit:]
