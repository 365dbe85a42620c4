"""`asbuilt stop`: end a run and its schedule, or pause it; all work is kept.

The schedule is cancelled first, so that no new run starts. The worker ends the run; this command waits for it
up to 60 s.
"""

from __future__ import annotations

import time
from typing import Final

import click
from msgspec import UNSET

from asbuilt import wiring
from asbuilt.cli.runs import outcome
from asbuilt.cli.shell.addresses import never_ran
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_plan
from asbuilt.cli.shell.run_context import Site, asker, look_at, site_of, the_only
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.schedules import schedule_json
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, NotFound, UsageWrong, WorkerFailed
from asbuilt.flows.requests import pause, stop
from asbuilt.flows.schedule import cancel
from asbuilt.journal import claims, schedules
from asbuilt.journal.claims import OWNER, Claim
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries.overview import RunView
from asbuilt.journal.runs import Run
from asbuilt.journal.schedules import Schedule

_STOP_S: Final = 60.0
_PAUSE_S: Final = 10.0


@subcommand(
    "stop",
    ("asbuilt stop rate-limit", "end its run and its schedule; every file is kept"),
    ('asbuilt stop rate-limit -m "wrong approach"', "and record why"),
    ("asbuilt stop rate-limit --pause", "pause after the current attempt; claim and workspace are kept"),
    ("asbuilt stop --all", "every run and schedule of this repository"),
    ("asbuilt stop rate-limit --schedule", "only its schedule; a run that has started continues"),
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option("--all", "every", is_flag=True, help="every run and schedule of this repository")
@click.option("--schedule", "only_schedule", is_flag=True, help="cancel the schedule, and let a run continue")
@click.option("--pause", "pauses", is_flag=True, help="pause at the next safe point; asbuilt run continues")
@click.option("-m", "--message", metavar="TEXT", default="", show_default=False, help="why, for the journal")
def command(
    door: Door, plan: str | None, *, every: bool, only_schedule: bool, pauses: bool, message: str
) -> int:
    """End a run and its schedule: the agent ends, its files are kept under a ref, the claim is released.

    With --pause the run keeps its claim, and waits after the current attempt until asbuilt run continues it.
    """
    if pauses and not every:
        return _paused(door, plan, message)
    if every == (plan is not None) or pauses:
        raise UsageWrong(
            "stop takes the name of a plan, or --all",
            why="Without a name, the wrong run could be stopped.",
            next_step="`asbuilt status` lists the runs.",
        )
    if plan is None:
        return _every(door, message, only_schedule=only_schedule)
    site = site_of(door, plan, ends=True)
    address, listed = site.listed(plan)
    cancelled = _cancelled(door, site, [address], message)
    if only_schedule:
        return _continues(door, cancelled, [run for run in listed[:1] if not run.is_over])
    if not listed and not cancelled:
        raise never_ran(plan, ends=True)
    if listed and stop(site.journal.store, listed[0], reason=message, asker=asker(door)):
        _serve(door, site, listed[0])
        outcome.shown(door, _ended(site, listed[0]), is_requested=True)
    elif not cancelled:
        _show_over(door, site.view(listed[0]))
    else:
        door.emitted(
            "asbuilt.runs/1", {"runs": [], "cancelled": [schedule_json(timer) for timer in cancelled]}
        )
    return DONE


def _serve(door: Door, site: Site, *stopped: Run) -> None:
    if any(run.options.fleet is UNSET for run in stopped):
        wiring.ensure_worker(site.journal.home, door.environ)


def _continues(door: Door, cancelled: list[Schedule], running: list[Run]) -> int:
    names = [run.name for run in running]
    cancelled_data = [schedule_json(timer) for timer in cancelled]
    if door.emitted("asbuilt.runs/1", {"runs": [], "cancelled": cancelled_data, "continue": names}):
        return DONE
    if not cancelled:
        door.screen.answer("Nothing is scheduled here.")
    for run, name in zip(running, names, strict=True):
        door.screen.answer(printable(f"{name} continues; asbuilt stop {run.options.slug} ends it."))
    next_command(door, "asbuilt status")
    return DONE


def end(door: Door, site: Site, run: Run, reason: str) -> RunView:
    """Stop a run and wait until it is over."""
    stop(site.journal.store, run, reason=reason, asker=asker(door))
    _serve(door, site, run)
    return _ended(site, run)


def _paused(door: Door, plan: str | None, reason: str) -> int:
    site, run = _to_pause(door, plan)
    if site is None or run is None:
        if not door.emitted("asbuilt.run/1", {"run": None, "exit": DONE}):
            door.screen.answer("Nothing is running here.")
            next_command(door, "asbuilt status")
        return DONE
    view = site.view(run)
    if pause(site.journal.store, run, reason=reason, asker=asker(door)):
        _serve(door, site, run)
        until = time.monotonic() + _PAUSE_S
        while not (view.run.is_over or view.is_paused or _has_agent(view) or time.monotonic() > until):
            time.sleep(0.1)
            view = site.view(run)
    if door.json or view.is_paused:
        return outcome.shown(door, view, is_requested=True)
    if view.run.is_over:
        _show_over(door, view)
        return DONE
    attempt = next((phase.attempt for phase in view.phases if phase.id == view.waits_for.phase), None)
    where = f": after attempt {attempt or 1} of phase {view.waits_for.phase}" if _has_agent(view) else ""
    door.screen.answer(f"{view.name} pauses at its next safe point{where}.")
    next_command(door, f"asbuilt status {run.options.slug}")
    return DONE


def _to_pause(door: Door, plan: str | None) -> tuple[Site | None, Run | None]:
    if plan is not None:
        site = site_of(door, plan, ends=True)
        address, listed = site.listed(plan)
        with site.journal.store.read() as session:
            timer = schedules.find(session, address)
        if timer is not None and not listed:
            raise NotFound(
                f"{timer.slug} has no run to pause; it is scheduled ({timer.cadence})",
                why="A schedule is ended, not paused.",
                next_step=f"`asbuilt stop {timer.slug} --schedule`",
            )
        return site, site.run(plan, ends=True)
    _, found = look_at(door)
    able = [] if found is None else found.open_runs()
    return found, the_only(able, [run.options.slug for run in able], "stop --pause")


def _has_agent(view: RunView) -> bool:
    return view.waits_for.kind == "agent"


def _show_over(door: Door, view: RunView) -> None:
    if not door.emitted("asbuilt.run/1", {**outcome.as_json(view), "exit": DONE}):
        door.screen.answer(f"{view.name} is already over: {view.run.state}.")
        next_command(door, f"asbuilt status {view.run.options.slug}")


def _cancelled(door: Door, site: Site, plans: list[Address], reason: str) -> list[Schedule]:
    """Cancel and print schedules. Comes first, because a schedule could start another run meanwhile."""
    store, home = site.journal.store, site.journal.home
    asked = (cancel(store, home, plan, reason=reason, asker=asker(door)) for plan in plans)
    found = [timer for timer in asked if timer is not None]
    for timer in found if not door.json else ():
        door.screen.answer(printable(f"{timer.slug} is no longer scheduled ({timer.cadence})."))
    return found


def _every(door: Door, message: str, *, only_schedule: bool) -> int:
    """Request every stop before waiting for the first, so that the runs end in parallel."""
    _, site = look_at(door)
    views: list[RunView] = []
    cancelled: list[Schedule] = []
    others: list[Claim] = []
    if site is not None:
        store = site.journal.store
        with store.read() as session:
            set_up = [timer.address for timer in schedules.every(session, LOCAL, site.repo)]
        cancelled = _cancelled(door, site, set_up, message)
        if only_schedule:
            return _continues(door, cancelled, site.open_runs())
        asked = [run for run in site.open_runs() if stop(store, run, reason=message, asker=asker(door))]
        _serve(door, site, *asked)
        views = [_ended(site, run) for run in asked]
        with store.read() as session:
            others = [claim for claim in claims.every(session, LOCAL, site.repo) if claim.mode == OWNER]
    rows = [schedule_json(timer) for timer in cancelled]
    stopped = [outcome.as_json(run_view) for run_view in views]
    left = [{"plan": claim.plan, "owner": claim.run} for claim in others]
    if door.emitted("asbuilt.runs/1", {"runs": stopped, "cancelled": rows, "claims_left": left}):
        return DONE
    if not views and not cancelled:
        door.screen.answer("Nothing is running here.")
        next_command(door, "asbuilt status")
    for view in views:
        outcome.shown(door, view, is_requested=True)
    for claim in others:
        door.screen.answer(printable(f"{claim.plan} stays claimed by {claim.run}."))
    return DONE


def _ended(site: Site, run: Run) -> RunView:
    until = time.monotonic() + _STOP_S
    while not (view := site.view(run)).run.is_over:
        if time.monotonic() > until:
            raise WorkerFailed(
                f"{view.name} has not stopped within {_STOP_S:.0f} s",
                why="The request is recorded; the worker stops the run after its current step.",
                next_step=f"`asbuilt status {run.options.slug}`",
            )
        time.sleep(0.1)
    return view
