"""Claims of plans on issues: one row per issue, which outlasts runs.

Rule: a plan releases its issues when it has landed completely, its run is stopped or its claim is broken,
never because it is idle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.events.pulls import IssueHeld
from asbuilt.journal.database.store import first
from asbuilt.journal.events import append

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address


class Held(NamedTuple):
    """An issue and the plan that has claimed it."""

    number: int
    plan: str
    since: str


def acquire(
    session: Session, address: Address, numbers: Iterable[int], *, run: str, actor: str
) -> list[Held]:
    """Claim the issues that a plan names; return those that another plan has claimed and keeps.

    The run continues without such an issue and records it: two plans may be about the same issue.
    """
    lost = []
    for number in sorted(set(numbers)):
        session.run(
            "INSERT INTO issue_claims (org, repo, number, plan, since)"
            " VALUES (:org, :repo, :number, :plan, :since) ON CONFLICT DO NOTHING",
            **address._asdict(),
            number=number,
            since=session.now,
        )
        held = _find(session, address, number)
        if held.plan != address.plan:
            lost.append(held)
            event = IssueHeld(number=number, plan=held.plan, since=held.since)
            append(session, address, event, key=f"{run}/issue/{number}", actor=actor, run=run)
    return lost


def release(session: Session, address: Address) -> None:
    """Release every issue of a plan."""
    session.run(
        "DELETE FROM issue_claims WHERE org = :org AND repo = :repo AND plan = :plan", **address._asdict()
    )


def every(session: Session, org: str, repo: str) -> list[Held]:
    """List the claimed issues of a repository."""
    rows = session.rows(
        "SELECT number, plan, since FROM issue_claims WHERE org = :org AND repo = :repo ORDER BY number",
        org=org,
        repo=repo,
    )
    return [Held(**row) for row in rows]


def _find(session: Session, address: Address, number: int) -> Held:
    row = first(
        session.rows(
            "SELECT number, plan, since FROM issue_claims"
            " WHERE org = :org AND repo = :repo AND number = :number",
            org=address.org,
            repo=address.repo,
            number=number,
        )
    )
    if row is None:
        raise LookupError(number)
    return Held(**row)
