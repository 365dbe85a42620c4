"""Find plans in the journal by the name that a user types. Rule: every query has a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.journal.database.table import OF_PLAN, OF_REPO, Table
from asbuilt.journal.ids import Address

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

RECENT: Final = 1_000
"""A partial name is matched against this many recently changed plans; a full name against all plans."""


class Known(NamedTuple):
    """A plan in the journal."""

    plan: str
    slug: str


_PLANS: Final = Table("heads", Known, Known._fields)


def called(session: Session, org: str, repo: str, *, path: str, slug: str) -> list[Known]:
    """Find the plan at a path, else the plans with a full name."""
    named = f"{OF_REPO} AND slug = :slug LIMIT :limit"
    return _PLANS.every(session, OF_PLAN, org=org, repo=repo, plan=path) or _PLANS.every(
        session, named, org=org, repo=repo, slug=slug, limit=RECENT
    )


def recent(session: Session, org: str, repo: str, *, limit: int = RECENT) -> list[Known]:
    """List the plans of a repository, the most recently changed first."""
    where = f"{OF_REPO} ORDER BY changed_at DESC, plan LIMIT :limit"
    return _PLANS.every(session, where, org=org, repo=repo, limit=limit)


def anywhere(session: Session, org: str, slug: str) -> list[Address]:
    """List the plans with a full name in every repository."""
    where = "org = :org AND slug = :slug LIMIT :limit"
    return Table("heads", Address, Address._fields).every(session, where, org=org, slug=slug, limit=RECENT)
