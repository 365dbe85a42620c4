"""`asbuilt pause`: pause a run at its next safe point. Claim and workspace are kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from asbuilt import wiring
from asbuilt.cli.runs import outcome
from asbuilt.cli.shell.desk import complete_plan, next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, look_at, site_of, the_only
from asbuilt.errors import DONE
from asbuilt.flows.requests import pause

if TYPE_CHECKING:
    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.journal.runs import Run

_PATIENCE_S: Final = 10.0


@click.command(
    "pause",
    cls=Command,
    examples=[
        ("asbuilt pause rate-limit", "after the attempt under way, it waits for you"),
        ("asbuilt pause", "the only run that goes on here"),
        ("asbuilt resume rate-limit", "the same run goes on"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option("-m", "--message", metavar="TEXT", default="asked for", help="why, for the journal")
@shared(json=True)
def command(door: Door, plan: str | None, *, message: str) -> int:
    """Let a run wait at its next safe point: after the attempt under way, or at once. It keeps its plan."""
    site, run = _chosen(door, plan)
    if site is None or run is None:
        if door.json:
            door.screen.emit_json({"schema": "asbuilt.run/1", "run": None, "exit": DONE})
        else:
            door.screen.answer("Nothing runs here.")
        return DONE
    if pause(site.journal.store, run, reason=message, asker=asker(door)):
        wiring.ensure_worker(site.journal.home, door.environ)
        view = _settled(site, run)
    else:
        view = site.view(run)
    if door.json or view.is_paused:
        return outcome.shown(door, view)
    if view.run.is_over:
        door.screen.answer(f"{view.name} is over already: {view.run.state}.")
        return DONE
    attempt = next((one.attempt for one in view.phases if one.id == view.waits_for.phase), None)
    where = f": after attempt {attempt or 1} of phase {view.waits_for.phase}" if _is_at_work(view) else ""
    door.screen.answer(f"{view.name} pauses at its next safe point{where}.")
    next_command(door, f"asbuilt status {run.options.slug}")
    return DONE


def _chosen(door: Door, plan: str | None) -> tuple[Site | None, Run | None]:
    if plan is not None:
        site = site_of(door, plan)
        return site, site.run(plan)
    _, found = look_at(door)
    return found, None if found is None else the_only(found.open_runs(), "pause")


def _settled(site: Site, run: Run) -> RunView:
    """Poll for up to 10 s until the run is paused or over, or an agent is at work."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        view = site.view(run)
        if view.run.is_over or view.is_paused or _is_at_work(view) or time.monotonic() > until:
            return view
        time.sleep(0.1)


def _is_at_work(view: RunView) -> bool:
    return view.waits_for.kind == "agent"
