"""Check the repository before a run starts on it; what is unclear stops the run, and the user decides."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import GateStopped
from asbuilt.events.landings import LandingDone
from asbuilt.git import commits
from asbuilt.git.locks import need_writable
from asbuilt.git.repository import (
    Repository,
    checkouts_of,
    conflicts,
    leftover_stashes,
    operations,
    plan_branch,
    tip,
)
from asbuilt.git.trees import is_here
from asbuilt.git.workspace import workspaces
from asbuilt.journal import runs
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle.delivery.facts import Landed, Work
from asbuilt.lifecycle.status.plan_state import Standing, fold_plan

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record

_LEFT: Final = 5


class Ground(NamedTuple):
    """What a run builds on."""

    target: str
    branch: str | None
    """The tip of the plan's branch; None if there is no branch."""
    standing: Standing
    unlanded: tuple[Work, ...]
    there: tuple[Landed, ...]
    """Work that the target has but the journal has not recorded: merged by hand, or landed after a backup."""


def check_repository(record: Record, repository: Repository, pushed: str | None) -> str:
    """Check the state of the repository; return the target's tip, or the forge's if that contains it."""
    need_writable(repository)
    target = f"refs/heads/{record.run.options.branch}"
    for checkout in checkouts_of(repository, target):
        unresolved = (f"a conflict in {path}" for path in conflicts(checkout))
        found = [*operations(checkout.git_dir), *unresolved]
        if found:
            raise GateStopped(
                f"{checkout.path} has an unfinished git operation: {', '.join(found[:3])}",
                why="A run does not start on top of an unfinished operation. Finish or abort it first.",
                next_step=f"`git -C {shlex.quote(str(checkout.path))} status`",
            )
    if leftover_stashes(repository):
        raise GateStopped(
            "there is a stash of an interrupted landing",
            why="It may have work that was not restored. Apply or drop it first.",
            next_step="`git stash list`",
        )
    base = tip(repository, target)
    if base is None:
        branch, last = record.run.options.branch, _last_known(record, repository)
        raise GateStopped(
            f"there is no branch {branch}",
            why="A run builds on the tip of its target branch. It was deleted or renamed.",
            next_step=f"`git branch {branch} {last[:12]}`" if last else "`git branch --list`",
        )
    return pushed if pushed is not None and commits.contains(repository, pushed, base) else base


def _last_known(record: Record, repository: Repository) -> str:
    """Return the last commit of a target that the plan's events name and the repository has; else nothing."""
    with record.store.read() as session:
        entries = events_of(session, record.blobs, record.run.address)
    pending, branch = fold_plan(entries).unlanded, record.run.options.branch
    events = (entry.event for entry in entries)
    landed = [event.new for event in events if isinstance(event, LandingDone) and event.branch == branch]
    base = commits.read_commit(repository, pending[0].commit).parents if pending else ()
    return next((commit for commit in (*reversed(landed), *base) if is_here(repository, commit)), "")


def check_plan_branch(record: Record, repository: Repository, ground: Ground) -> None:
    """Refuse to build on a branch that is not as the last run left it."""
    slug, at = record.run.options.slug, ground.branch
    branch = plan_branch(repository, slug)
    if ground.unlanded:
        last = ground.unlanded[-1].commit
        if at == last:
            return
        phases = ", ".join(work.phase for work in ground.unlanded)
        put_back = f"git branch --force {branch} {last[:12]}"
        raise GateStopped(
            f"{branch} {'is gone' if at is None else f'was moved to {at[:12]}'}",
            why=f"It had proven work that is not landed: phase {phases}, at {last[:12]}. "
            f"Put it back; asbuilt land {slug} --undo drops that work instead.",
            next_step=f"`{put_back}`",
        )
    ours = {work.commit for work in ground.standing.proven}
    if at is None or at in ours or commits.contains(repository, ground.target, at):
        return
    if commits.outcomes(repository, at, record.run.run, since=ground.target):
        return
    raise GateStopped(
        f"branch {branch} exists, and asbuilt did not create it",
        why="The plan's proven commits would replace the commits on it. Rename it first.",
        next_step=f"`git branch --move {branch} {branch}-mine`",
    )


def leftover_workspaces(record: Record, repository: Repository, spaces: Path) -> tuple[str, ...]:
    """Name the earlier runs of this plan that left workspaces behind; none is removed."""
    run, there = record.run, {rest.run for rest in workspaces.leftovers(repository, spaces)}
    with record.store.read() as session:
        earlier = [
            runs.find(session, run.org, run.repo, address) for address in sorted(there) if address != run.run
        ]
    return tuple(other_run.name for other_run in earlier if other_run and other_run.plan == run.plan)[:_LEFT]
