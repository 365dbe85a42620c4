"""Remove what a landed run no longer needs, and close the issues of a completed plan.

Rules: whatever could be lost is kept, and reported. An issue gets one comment, from the plan that has claimed
it; an issue that cannot be closed is recorded and fails no run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.errors import ForgeBusy, ForgeFailed, GitFailed, NotLanded
from asbuilt.events.landings import LandingTidied
from asbuilt.events.pulls import IssuesTelling, IssuesTold
from asbuilt.flows.engine.transient import transient_error
from asbuilt.flows.run.record import ACTOR
from asbuilt.git import locks
from asbuilt.git.landing import candidates
from asbuilt.git.repository import Repository, checkouts_of, plan_branch, tip
from asbuilt.git.workspace import workspaces
from asbuilt.journal import issue_claims, runs
from asbuilt.journal.events import hold, shortened
from asbuilt.pages import pull_request as pages

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.flows.context import Context
    from asbuilt.flows.run.record import Record
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

_MOST_KEPT: Final = 5
_WHY: Final = 160
_TRIES: Final = 3
"""Tries on a forge that does not answer, for a landing that needs no forge."""
_WORDS: Final = 500
_NAMED: Final = 8


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


def close_issues(context: Context, facts: DeliveryFacts) -> None:
    """Comment on the issues that the plan has claimed, and close those that are open."""
    record, failed = context.record, []
    run = record.run
    # Claimed again: a landing may come long after the phases, and another plan may have an issue since.
    with record.store.write() as session:
        hold(session, run.address)
        others = issue_claims.acquire(session, run.address, facts.issues, run=run.run, actor=ACTOR)
    numbers = tuple(number for number in facts.issues if number not in {held.number for held in others})
    record.append(IssuesTelling(numbers=numbers), "issues/telling")
    record.hold()
    for number in numbers:
        try:
            _close(context, facts, number)
        except ForgeFailed as error:
            if isinstance(error, ForgeBusy) and (facts.way == "pr" or facts.chain.transient_errors < _TRIES):
                raise
            failed.append(shortened(f"#{number} is not closed: {error.what}", _WORDS))
    record.append(IssuesTold(numbers=numbers, failed=tuple(failed[:_NAMED])), "issues/told")


def _close(context: Context, facts: DeliveryFacts, number: int) -> None:
    forge, plan = context.forge(), context.record.run.plan
    found = forge.issue(number)
    if found is None or not found.is_open:
        return
    mark, commits = pages.mark_for(plan), [landed.landed_as for landed in facts.landed]
    text = pages.closing(mark, plan=plan, phases=len(facts.phases), commits=commits, pull=facts.pull.url)
    forge.comment(number, text, mark=mark)
    forge.close_issue(number)
