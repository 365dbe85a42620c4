"""Remove what a landed run no longer needs. Rule: whatever could be lost is kept, and reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.errors import GitFailed, NotLanded
from asbuilt.events.landings import LandingTidied
from asbuilt.flows.engine.transient import transient_error
from asbuilt.git import locks
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, checkouts_of, plan_branch, tip
from asbuilt.git.workspace import workspaces
from asbuilt.journal import runs

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

_MOST_KEPT: Final = 5
_WHY: Final = 160


def tidy(record: Record, repository: Repository, facts: DeliveryFacts, root: Path) -> None:
    """Remove workspaces, the plan's branch and the candidate, each only if nothing is lost."""
    landed = {record.run.run, *_over(record, {landed_phase.run for landed_phase in facts.landed})}
    kept: list[str] = []
    # Workspaces go first: the branch keeps their commits reachable.
    for leftover in workspaces.leftovers(repository, root):
        if leftover.run not in landed:
            continue
        try:
            workspaces.remove(repository, leftover.workspace)
        except (NotLanded, GitFailed) as error:
            # Retry transient errors: given up here, the workspace would stay forever.
            if transient_error(error) is not None:
                raise
            kept.append(f"{leftover.run}/{leftover.lane}: {error.what}"[:_WHY])
    record.hold()
    branch = _drop_branch(record, repository, facts)
    candidates.let_go(repository, record.run.run)
    record.append(
        LandingTidied(branch=branch, kept=tuple(kept[:_MOST_KEPT]), kept_in_all=len(kept)), "tidied"
    )


def _over(record: Record, names: set[str]) -> set[str]:
    """Return the runs that are over: a run whose claim a user broke may still be working."""
    with record.store.read() as session:
        known = [runs.find(session, record.run.org, record.run.repo, name) for name in sorted(names)]
    return {run.run for run in known if run is not None and run.is_over}


def _drop_branch(record: Record, repository: Repository, facts: DeliveryFacts) -> str:
    """Delete the plan's branch if everything on it has landed; returns `gone`, `kept` or `removed`."""
    ref = f"refs/heads/{plan_branch(repository, record.run.options.slug)}"
    at = tip(repository, ref)
    if at is None:
        return "gone"
    if facts.pending or at not in {landed.commit for landed in facts.landed} or checkouts_of(repository, ref):
        return "kept"
    locks.drop_ref(repository, ref, old=at)
    return "removed"
