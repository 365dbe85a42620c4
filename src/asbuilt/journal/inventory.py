"""What is in a journal, counted and quoted for whoever has to understand it from afar. It only reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.journal.events import COLUMNS, Event, event_of

if TYPE_CHECKING:
    from asbuilt.journal.store import Session


def kinds(session: Session) -> dict[str, int]:
    """Count the events of each kind."""
    rows = session.rows("SELECT kind, count(*) AS n FROM events GROUP BY kind ORDER BY kind")
    return {row["kind"]: int(row["n"]) for row in rows}


def latest(session: Session, org: str, repo: str, *, limit: int) -> list[tuple[str, Event]]:
    """Return the last events of a repository's plans, oldest first, each with its plan."""
    rows = session.rows(
        f"SELECT plan, {COLUMNS} FROM events WHERE org = :org AND repo = :repo"
        " ORDER BY feed DESC LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    return [(str(row.pop("plan")), event_of(row)) for row in reversed(rows)]
