"""Check the invariants of a landing by pull request, and record each that does not hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.events.pulls import PullInvariants
from asbuilt.flows.pull_request.branch import pull_branch
from asbuilt.flows.run.record import Record
from asbuilt.git import commits
from asbuilt.git.repository import Repository, plan_branch, tip
from asbuilt.git.trees import file_in
from asbuilt.git.workspace import workspaces
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.land_run import LandingFacts
from asbuilt.lifecycle.pull_request.invariants import Left, broken, warnings
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.git.forge.github import GitHub

_HELD: Final = 8


def check_invariants(
    record: Record, repository: Repository, forge: GitHub, facts: DeliveryFacts, root: Path
) -> None:
    """Check everything that a landing has to leave in order, and record what is not."""
    left = _left(record, repository, forge, facts, root)
    found = broken(left)
    record.append(
        PullInvariants(
            broken=tuple(found),
            held=_HELD - len(found),
            warned=tuple(warnings(left, record.run.options.branch)),
        ),
        "pull/invariants",
    )


def _left(record: Record, repository: Repository, forge: GitHub, facts: DeliveryFacts, root: Path) -> Left:
    ours = {record.run.run, *(landed.run for landed in facts.landed)}
    spaces = [leftover for leftover in workspaces.leftovers(repository, root) if leftover.run in ours]
    options = record.run.options
    branch, pushed, target = plan_branch(repository, options.slug), pull_branch(record), options.branch
    there, here = forge.fetch(target), tip(repository, f"refs/heads/{target}")
    pull = forge.find(pushed)
    return Left(
        folders=tuple(str(leftover.workspace.path) for leftover in spaces if leftover.here),
        registered=tuple(f"{leftover.run}/{leftover.lane}" for leftover in spaces),
        branch=branch if tip(repository, f"refs/heads/{branch}") else None,
        pushed=pushed if forge.tip(pushed) else None,
        has_report=facts.reported or isinstance(facts, LandingFacts),
        under_way=_under_way(record, repository, there),
        state="merged" if pull is None else pull.state,
        is_reconcilable=None in (here, there) or commits.contains(repository, there or "", here or ""),
    )


def _under_way(record: Record, repository: Repository, at: str | None) -> tuple[str, ...]:
    """List the phases that the plan on the target marks as in progress; empty if the plan is not there."""
    if at is None or not record.run.is_in_repository:
        return ()
    text = file_in(repository, at, record.run.plan) or b""
    return tuple(phase.id for phase in read(text).phases if phase.status is Status.IN_PROGRESS)
