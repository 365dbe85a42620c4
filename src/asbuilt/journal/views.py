"""What people look at, computed from rows and events when it is read. Nothing here is stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.events import whole_history
from asbuilt.journal.ids import Address
from asbuilt.lifecycle.folding import fold
from asbuilt.lifecycle.progress import PhaseProgress, WaitsFor, progress, waits_for

if TYPE_CHECKING:
    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.claims import Claim
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Session
    from asbuilt.lifecycle.facts import RunFacts

_ELSEWHERE: Final = ("outline", "details")
"""Names under which an event holds the digest of what was too long for it."""


class RunView(NamedTuple):
    """One run as it stands."""

    run: Run
    name: str
    """What people type: `rate-limit.1`."""
    phases: list[PhaseProgress]
    waits_for: WaitsFor
    questions: list[Approval]
    """What it has asked and nobody has answered."""
    cost_usd: float
    exit_code: int | None
    """What a gate that ended it asks the command to say; None for every other end."""

    @property
    def is_paused(self) -> bool:
        """Tell whether it has come to its safe point and stays there until somebody resumes it."""
        return self.run.state == "paused" and self.waits_for.kind == "resume"

    @property
    def waits_for_a_person(self) -> bool:
        """Tell whether nothing happens to it before somebody acts."""
        return self.is_paused or (self.run.state == "waiting" and bool(self.questions))


class PlanView(NamedTuple):
    """One plan that has a journal."""

    address: Address
    slug: str
    changed_at: str
    claim: Claim | None
    run: RunView | None
    """The newest one."""


def events_of(session: Session, blobs: Blobs, address: Address) -> list[tuple[str, dict[str, Any]]]:
    """Return a plan's events in order, each with its time; what was too long for one is in its blob."""
    told: list[tuple[str, dict[str, Any]]] = []
    for event in whole_history(session, address):
        data = {**event.data, "at": event.at}
        for name in _ELSEWHERE:
            if name in event.data:
                data |= json.loads(blobs.get(event.data[name]))
        told.append((event.kind, data))
    return told


def facts_of(session: Session, blobs: Blobs, run: Run) -> RunFacts:
    """Fold what is known of a run."""
    facts = fold(run.run, run.options, events_of(session, blobs, run.address))
    facts.stop = run.stop
    return facts


def run_view(session: Session, blobs: Blobs, run: Run) -> RunView:
    """Tell how one run stands."""
    facts = facts_of(session, blobs, run)
    asked = [one for one in approvals.waiting(session, run.org, run.repo) if one.run == run.run]
    return RunView(
        run,
        f"{run.options['slug']}.{run.number}",
        progress(facts, session.now),
        waits_for(facts, session.now),
        asked,
        facts.cost_usd,
        facts.code,
    )


def plan_view(session: Session, blobs: Blobs, address: Address) -> PlanView | None:
    """Tell how one plan stands; None when the journal has nothing of it."""
    rows = session.rows(
        "SELECT slug, changed_at FROM heads WHERE org = :org AND repo = :repo AND plan = :plan",
        **address._asdict(),
    )
    return _view(session, blobs, address, **rows[0]) if rows else None


def plan_views(session: Session, blobs: Blobs, org: str, repo: str, *, limit: int = 50) -> list[PlanView]:
    """Tell how the plans of a repository stand, the one that changed last first."""
    rows = session.rows(
        "SELECT plan, slug, changed_at FROM heads WHERE org = :org AND repo = :repo"
        " ORDER BY changed_at DESC LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    return [_view(session, blobs, Address(org, repo, row.pop("plan")), **row) for row in rows]


def _view(session: Session, blobs: Blobs, address: Address, slug: str, changed_at: str) -> PlanView:
    newest = runs.of_plan(session, address, limit=1)
    return PlanView(
        address,
        slug,
        changed_at,
        claims.find(session, address),
        run_view(session, blobs, newest[0]) if newest else None,
    )
