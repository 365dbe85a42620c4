"""`asbuilt land`: move proven commits to their branch, or revert landed ones. All of them, or none."""

from __future__ import annotations

import click
from msgspec import UNSET, structs

from asbuilt.cli.commands.run.follow import ask_for
from asbuilt.cli.commands.run.resume import agreed
from asbuilt.cli.runs.lost_plan_file import bringing_back, is_lost
from asbuilt.cli.shell.addresses import never_ran
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_plan
from asbuilt.cli.shell.run_context import Site, look_at, site_of, the_only
from asbuilt.cli.ui.messages import next_command
from asbuilt.errors import DONE, GATE_STOPPED, GateStopped, NotFound, UsageWrong
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import plan_views
from asbuilt.journal.queries.recorded_text import recorded_text
from asbuilt.journal.queues import landing_queue
from asbuilt.journal.runs import Run
from asbuilt.settings.running import renewed


@subcommand(
    "land",
    ("asbuilt land rate-limit", "move proven commits to their branch"),
    ("asbuilt land", "the same, if only one plan here has proven work to land"),
    ("asbuilt land rate-limit --front", "land it before the runs that wait in line for the branch"),
    ("asbuilt land rate-limit --undo", "one revert for each landed commit; the plan is open again"),
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option("--undo", is_flag=True, help="revert what the last run landed")
@click.option("--front", is_flag=True, help="land next, ahead of runs that wait in line for the branch")
def command(door: Door, plan: str | None, *, undo: bool, front: bool) -> int:
    """Land proven commits on the target branch. If that is not possible, nothing moves."""
    if plan is not None:
        return land(door, plan, undo=undo, front=front)
    if undo or front:
        raise UsageWrong(
            f"{'--undo' if undo else '--front'} takes the name of a plan",
            why="Without a name, the wrong work could be moved.",
            next_step="`asbuilt status`",
        )
    _, site = look_at(door)
    able = [] if site is None else _proven(site)
    run = the_only(able, [waiting.options.slug for waiting in able], "land")
    if run is not None:
        return land(door, run.options.slug)
    if door.emitted("asbuilt.run/1", {"run": None, "exit": DONE}):
        return DONE
    door.screen.answer("No proven work waits for a landing here.")
    next_command(door, "asbuilt status")
    return DONE


def _proven(site: Site) -> list[Run]:
    """Return the runs of plans with proven work that no landing holds, also one that was refused."""
    with site.journal.store.read() as session:
        views = plan_views(session, site.journal.blobs, LOCAL, site.repo)
    return [view.run.run for view in views if view.run and view.run.run.is_over and view.run.to_land]


def land(door: Door, plan: str, *, undo: bool = False, front: bool = False) -> int:
    """Land what a plan's runs have proven, or revert what the last run landed, with the settings of now."""
    site = site_of(door, plan, ends=undo)
    address = site.address(plan)
    with site.journal.store.read() as session:
        listed = runs.of_plan(session, address, limit=1)
    if not listed:
        raise never_ran(plan, ends=undo)
    last = listed[0]
    if front and not last.is_over and _to_front(door, site, last):
        return DONE
    if not undo and last.is_over:
        _need_proven(site, address, last.options.slug)
    # Undo the newest run whose work is still landed, where it landed, not one that was already undone.
    of = _newest(site, address, plan) if undo else None
    options, changes = renewed(last.options, site.desk.settings)
    if not agreed(door, [change for change in changes if change.is_of_landing]):
        return GATE_STOPPED
    options = structs.replace(
        options,
        kind="undo" if undo else "land",
        auto=True,
        hold=False,
        # What was declined before is asked about again.
        continues=UNSET,
        front=front or UNSET,
        desktop=site.desk.settings.flag("attention.desktop"),
        branch=(of or last).options.branch,
        landing=(of or last).options.landing,
        of=of.run if of else UNSET,
    )
    return ask_for(door, site, address, last.options.slug, options)


def _need_proven(site: Site, address: Address, slug: str) -> None:
    standing, root = site.standing(address), site.repository.root if site.has_clone else None
    if not (standing.unlanded or standing.newest):
        back = f"asbuilt run {slug}"
        if is_lost(root, address.plan):
            with site.journal.store.read() as session:
                again = "" if recorded_text(session, address) else back
            back = bringing_back(root, address.plan, slug, otherwise=again)
        raise GateStopped(
            "nothing to land: no phase is proven",
            why="asbuilt lands only what it has proven.",
            next_step=f"`{back}`",
        )


def _to_front(door: Door, site: Site, run: Run) -> bool:
    """Move a run that waits in line directly behind the one that lands; return False if it does not wait."""
    with site.journal.store.write() as session:
        ahead = landing_queue.to_front(session, run)
    if ahead is None:
        return False
    branch, slug = run.options.branch, run.options.slug
    if door.emitted("asbuilt.front/1", {"plan": slug, "branch": branch, "ahead": [*ahead]}):
        return True
    after = f", after {ahead[0]}" if ahead else ""
    door.screen.answer(f"{slug} lands next on {branch}{after}.")
    next_command(door, f"asbuilt watch {slug}")
    return True


def _newest(site: Site, address: Address, plan: str) -> Run:
    """Return the newest run that was not undone. Raise if it landed by a pull request."""
    standing = site.standing(address)
    newest = site.found(standing.newest or "")
    if newest is None and standing.undone:
        raise NotFound(
            f"all work of {plan} is reverted already",
            why="Nothing that it has landed or proven is left to revert.",
            next_step=f"`asbuilt run {plan}`",
        )
    if newest is None:
        raise NotFound(
            f"nothing of {plan} has landed here",
            why="asbuilt reverts only what asbuilt landed.",
            next_step=f"`asbuilt status {plan}`",
        )
    if newest.options.landing == "pr" and (landed := standing.landed_by(newest.run)):
        raise GateStopped(
            f"{plan} has landed by a pull request, and only another pull request reverts it",
            why="A revert in this clone would not reach the branch at the forge.",
            next_step="Revert it at the forge; then open each phase again:"
            f" `asbuilt plan mark {plan} {landed[0].phase} pending`",
        )
    return newest
