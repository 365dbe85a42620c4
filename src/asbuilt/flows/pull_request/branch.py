"""The branch of a pull request at the forge. Rule: it is deleted only if its commits have landed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from asbuilt.events.options import DEFAULT_BRANCH_PREFIX, value_or
from asbuilt.events.pulls import PullDropping
from asbuilt.flows.pull_request.repairs import MENDS
from asbuilt.flows.run.record import Record
from asbuilt.git import commits, locks
from asbuilt.git.refs import listed
from asbuilt.git.repository import Repository

if TYPE_CHECKING:
    from asbuilt.git.forge.github import GitHub


def pull_branch(record: Record) -> str:
    """Return the name of the plan's branch at the forge."""
    options = record.run.options
    return f"{value_or(options.pull.branch_prefix, DEFAULT_BRANCH_PREFIX)}{options.slug}"


def drop_pushed(record: Record, repository: Repository, forge: GitHub, heads: Collection[str]) -> None:
    """Delete the pull request's branch at the forge, and the local refs of its repairs."""
    branch, target = pull_branch(record), forge.fetch(record.run.options.branch)
    there = forge.tip(branch)
    has_landed = there in heads or (
        there is not None and target is not None and commits.contains(repository, target, there)
    )
    if there is not None and has_landed:
        record.append(PullDropping(branch=branch, head=there), "pull/dropping")
        record.hold()
        forge.drop(branch, expected=there)
    for ref, commit in listed(repository, f"{MENDS}{record.run.run}"):
        locks.drop_ref(repository, ref, old=commit)
