"""Claims of plans on issues: one row per issue, which outlasts runs.

Rule: a plan releases its issues when it has landed completely, its run is stopped or its claim is broken,
never because it is idle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.pulls import IssueHeld
from asbuilt.journal.database.table import OF_PLAN, OF_REPO, Table, insert
from asbuilt.journal.events import append

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address


class Held(NamedTuple):
    """An issue and the plan that has claimed it."""

    number: int
    plan: str
    since: str


_ISSUES: Final = Table("issue_claims", Held, Held._fields)


def acquire(
    session: Session, address: Address, numbers: Iterable[int], *, run: str, actor: str
) -> list[Held]:
    """Claim the issues that a plan names; record and return those that another plan keeps."""
    lost = []
    where = address._asdict()
    for number in sorted(set(numbers)):
        insert(session, "issue_claims", "ON CONFLICT DO NOTHING", **where, number=number, since=session.now)
        held = _ISSUES.first(session, f"{OF_REPO} AND number = :number", **where, number=number)
        if held is None:
            raise LookupError(number)
        if held.plan != address.plan:
            lost.append(held)
            event = IssueHeld(number=number, plan=held.plan, since=held.since)
            append(session, address, event, key=f"{run}/issue/{number}", actor=actor, run=run)
    return lost


def release(session: Session, address: Address) -> None:
    """Release every issue of a plan."""
    session.run(f"DELETE FROM issue_claims WHERE {OF_PLAN}", **address._asdict())


def every(session: Session, org: str, repo: str) -> list[Held]:
    """List the claimed issues of a repository."""
    return _ISSUES.every(session, f"{OF_REPO} ORDER BY number", org=org, repo=repo)
