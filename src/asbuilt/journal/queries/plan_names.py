"""Find plans in the journal by the name that a user types. Rule: every query has a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.journal.ids import Address

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

RECENT: Final = 1_000
"""A partial name is matched against this many recently changed plans; a full name against all plans."""


class Known(NamedTuple):
    """A plan in the journal."""

    plan: str
    """Its path."""
    slug: str


def called(session: Session, org: str, repo: str, *, path: str, slug: str) -> list[Known]:
    """Find the plan at a path, else the plans with a full name."""
    where = {"org": org, "repo": repo}
    rows = session.rows(
        "SELECT plan, slug FROM heads WHERE org = :org AND repo = :repo AND plan = :path", **where, path=path
    ) or session.rows(
        "SELECT plan, slug FROM heads WHERE org = :org AND repo = :repo AND slug = :slug LIMIT :limit",
        **where,
        slug=slug,
        limit=RECENT,
    )
    return [Known(**row) for row in rows]


def recent(session: Session, org: str, repo: str, *, limit: int = RECENT) -> list[Known]:
    """List the plans of a repository, the most recently changed first."""
    rows = session.rows(
        "SELECT plan, slug FROM heads WHERE org = :org AND repo = :repo"
        " ORDER BY changed_at DESC, plan LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    return [Known(**row) for row in rows]


def anywhere(session: Session, org: str, slug: str) -> list[Address]:
    """List the plans with a full name in every repository."""
    rows = session.rows(
        "SELECT repo, plan FROM heads WHERE org = :org AND slug = :slug LIMIT :limit",
        org=org,
        slug=slug,
        limit=RECENT,
    )
    return [Address(org, row["repo"], row["plan"]) for row in rows]
