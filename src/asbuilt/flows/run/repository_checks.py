"""Check the repository before a run starts on it; what is unclear stops the run, and the user decides."""

from __future__ import annotations

import shlex
from collections.abc import Collection
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


def lost_work(record: Record, repository: Repository, ground: Ground, done: Collection[str]) -> list[Landed]:
    """Return landed work that the target does not have any more, such as after a `git reset` of the user.

    Only the last proof of a phase counts, unless the user has marked the phase since. Work that landed by a
    pull request is on the forge's branch, which the user's own may not have yet.
    """
    run, standing = record.run, ground.standing
    marked = {phase for phase, _ in standing.by_hand}
    last = {work.phase: work.commit for work in standing.proven if work.phase in {*done} - marked}
    with record.store.read() as session:
        found = [
            (runs.find(session, run.org, run.repo, landing.run), landing)
            for landing in standing.landings
            if landing.branch == run.options.branch and landing.landed
        ]
    landings = [landing for by, landing in found if by is not None and by.options.landing != "pr"]
    landed = [work for landing in landings for work in landing.landed if last.get(work.phase) == work.commit]
    return _without_those_on(repository, ground.target, landed)


def _without_those_on(repository: Repository, target: str, landed: list[Landed]) -> list[Landed]:
    kept = [work for work in landed if commits.contains(repository, target, work.landed_as)]
    # Reverts come after the landing. A rewritten history may have a copy of a commit anywhere.
    is_whole = bool(kept) and len(kept) == len(landed)
    since = commits.read_commit(repository, kept[0].landed_as).parents[:1] if is_whole else ()
    found = {
        (outcome.run, outcome.phase): outcome.undone
        for outcome in commits.outcomes(
            repository, target, *sorted({work.run for work in landed}), since=next(iter(since), None)
        )
    }
    # What the user merged by hand may have landed as a commit without trailers.
    gone = [work for work in landed if found.get((work.run, work.phase), work not in kept)]
    return list({work.commit: work for work in gone}.values())


def need_landed(record: Record, repository: Repository, ground: Ground, done: Collection[str]) -> None:
    """Refuse to build on a target from which landed work was removed."""
    lost, options = lost_work(record, repository, ground, done), record.run.options
    if lost:
        phase, landed_as = lost[0].phase, lost[0].landed_as[:10]
        raise GateStopped(
            f"phase {phase} landed as {landed_as}, and {options.branch} does not have it any more",
            why=f"A run would build on {options.branch} without it. Land it again. Or open its phases: "
            f"asbuilt land {options.slug} --undo. Or accept {options.branch} as it is: "
            f"asbuilt plan mark {options.slug} {phase} done.",
            next_step=f"`asbuilt land {options.slug}`",
        )


def landable_again(
    record: Record, repository: Repository, ground: Ground, done: Collection[str]
) -> list[Work]:
    """Return lost work to land again; raise if git has deleted its commits."""
    lost, options = lost_work(record, repository, ground, done), record.run.options
    missing = next((work for work in lost if not is_here(repository, work.commit)), None)
    if missing is not None:
        raise GateStopped(
            f"{options.branch} and this repository do not have the landed commit of phase {missing.phase}",
            why=f"It landed, and commit {missing.commit[:12]} was deleted since. Nothing can land again. "
            "An undo opens its phases, and the next run works on them.",
            next_step=f"`asbuilt land {options.slug} --undo`",
        )
    return [Work(*work[:3]) for work in lost]


def leftover_workspaces(record: Record, repository: Repository, spaces: Path) -> tuple[str, ...]:
    """Name the earlier runs of this plan that left workspaces behind; none is removed."""
    run, there = record.run, {rest.run for rest in workspaces.leftovers(repository, spaces)}
    with record.store.read() as session:
        earlier = [
            runs.find(session, run.org, run.repo, address) for address in sorted(there) if address != run.run
        ]
    return tuple(other_run.name for other_run in earlier if other_run and other_run.plan == run.plan)[:_LEFT]
