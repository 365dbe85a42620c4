"""`asbuilt stop`: end a run and its schedule; all work is kept.

The schedule is cancelled first, so that no new run starts. The worker ends the run; this command waits for it
up to 60 s.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from asbuilt import wiring
from asbuilt.cli.runs import outcome
from asbuilt.cli.shell.addresses import never_ran
from asbuilt.cli.shell.desk import complete_plan
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, look_at, site_of
from asbuilt.cli.ui import timetable
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, UsageWrong, WorkerFailed
from asbuilt.flows.requests import stop
from asbuilt.flows.schedule import cancel
from asbuilt.journal import schedules
from asbuilt.journal.ids import LOCAL

if TYPE_CHECKING:
    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.ids import Address
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.journal.runs import Run
    from asbuilt.journal.schedules import Schedule

_PATIENCE_S: Final = 60.0


@click.command(
    "stop",
    cls=Command,
    examples=[
        ("asbuilt stop rate-limit", "end its run and its schedule; every file is kept"),
        ('asbuilt stop rate-limit -m "wrong approach"', "and say why"),
        ("asbuilt stop --all", "every run and schedule of this repository"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option("--all", "every", is_flag=True, help="every run and schedule of this repository")
@click.option("-m", "--message", metavar="TEXT", default="asked for", help="why, for the journal")
@shared(json=True)
def command(door: Door, plan: str | None, *, every: bool, message: str) -> int:
    """End a run and its schedule: the agent ends, its files are kept under a ref, the claim is released."""
    if every == (plan is not None):
        raise UsageWrong(
            "stop takes the name of a plan, or --all",
            why="A run that nobody named could be the wrong one.",
            next_step="`asbuilt status` shows what runs; `asbuilt stop --all` ends all of it.",
        )
    if plan is None:
        return _every(door, message)
    site = site_of(door, plan)
    address, listed = site.listed(plan)
    cancelled = _cancelled(door, site, [address], message)
    if not listed and not cancelled:
        raise never_ran(plan)
    if listed and stop(site.journal.store, listed[0], reason=message, asker=asker(door)):
        wiring.ensure_worker(site.journal.home, door.environ)
        outcome.shown(door, _ended(site, listed[0]))
    elif not cancelled:
        _show_over(door, site.view(listed[0]))
    elif door.json:
        told = [timetable.as_json(one) for one in cancelled]
        door.screen.emit_json({"schema": "asbuilt.runs/1", "runs": [], "cancelled": told})
    return DONE


def _show_over(door: Door, view: RunView) -> None:
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.run/1", **outcome.as_json(view), "exit": DONE})
    else:
        door.screen.answer(f"{view.name} is over already: {view.run.state}.")


def _cancelled(door: Door, site: Site, plans: list[Address], reason: str) -> list[Schedule]:
    """Cancel and print schedules. Comes first, because a schedule could start another run meanwhile."""
    store, home = site.journal.store, site.journal.home
    asked = (cancel(store, home, plan, reason=reason, asker=asker(door)) for plan in plans)
    found = [one for one in asked if one is not None]
    for one in found if not door.json else ():
        door.screen.answer(printable(f"{one.slug} is no longer scheduled ({one.cadence})."))
    return found


def _every(door: Door, message: str) -> int:
    """Request every stop before waiting for the first, so that the runs end in parallel."""
    _, site = look_at(door)
    views: list[RunView] = []
    cancelled: list[Schedule] = []
    if site is not None:
        store = site.journal.store
        with store.read() as session:
            set_up = [one.address for one in schedules.every(session, LOCAL, site.repo)]
        cancelled = _cancelled(door, site, set_up, message)
        asked = [run for run in site.open_runs() if stop(store, run, reason=message, asker=asker(door))]
        if asked:
            wiring.ensure_worker(site.journal.home, door.environ)
        views = [_ended(site, run) for run in asked]
    if door.json:
        told = [timetable.as_json(one) for one in cancelled]
        door.screen.emit_json(
            {"schema": "asbuilt.runs/1", "runs": [outcome.as_json(one) for one in views], "cancelled": told}
        )
        return DONE
    if not views and not cancelled:
        door.screen.answer("Nothing runs here.")
    for view in views:
        outcome.shown(door, view)
    return DONE


def _ended(site: Site, run: Run) -> RunView:
    until = time.monotonic() + _PATIENCE_S
    while not (view := site.view(run)).run.is_over:
        if time.monotonic() > until:
            raise WorkerFailed(
                f"{view.name} has not stopped within {_PATIENCE_S:.0f} s",
                why="The wish is written down, and the worker carries it out when it gets to it.",
                next_step=f"`asbuilt status {run.options.slug}` shows how far it is.",
            )
        time.sleep(0.1)
    return view
