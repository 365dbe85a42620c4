"""`asbuilt watch`: follow a run. It starts nothing; Ctrl-C leaves the run running."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from asbuilt import wiring
from asbuilt.cli.commands.run import look_on
from asbuilt.cli.runs import outcome
from asbuilt.cli.runs.standing import show_plan
from asbuilt.cli.runs.waiting import run_waiting
from asbuilt.cli.shell.desk import complete_plan, next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.reading import Seen
from asbuilt.cli.shell.site import look_at, site_of
from asbuilt.cli.ui.words import listed
from asbuilt.errors import DONE, UsageWrong
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.overview import plan_view, plan_views, run_view

if TYPE_CHECKING:
    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.runs import Run


@click.command(
    "watch",
    cls=Command,
    examples=[
        ("asbuilt watch", "the run that is under way here"),
        ("asbuilt watch rate-limit", "the newest run of this plan"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@shared(json=True)
def command(door: Door, plan: str | None) -> int:
    """Look on at a run: what its agent does, what is proven, what it waits for."""
    if plan is not None:
        site = site_of(door, plan)
        return _look_on(door, site, site.run(plan))
    _, found = look_at(door)
    under_way = [] if found is None else _under_way(found)
    if found is None or not under_way:
        if door.json:
            door.screen.emit_json({"schema": "asbuilt.run/1", "run": None, "state": None, "exit": DONE})
            return DONE
        door.screen.answer("Nothing is under way here.")
        next_command(door, "asbuilt status")
        return DONE
    if len(under_way) > 1:
        names = [str(run.options.slug) for run in under_way]
        raise UsageWrong(
            f"{len(names)} runs are under way here: {listed(names)}",
            why="Which one is meant cannot be told.",
            next_step=f"`asbuilt watch {names[0]}`",
        )
    return _look_on(door, found, under_way[0])


def _under_way(site: Site) -> list[Run]:
    with site.journal.store.read() as session:
        views = plan_views(session, site.journal.blobs, LOCAL, site.repo)
    return [view.run.run for view in views if view.run is not None and not view.run.run.is_over]


def _look_on(door: Door, site: Site, run: Run) -> int:
    pid = wiring.worker_pid(site.journal.home)
    if run.is_over or pid is not None:
        return look_on(door, site, run, pid or 0, starts=False)
    with site.journal.store.read() as session:
        view = run_view(session, site.journal.blobs, run)
        about = plan_view(session, site.journal.blobs, run.address)
    if view.questions or about is None:
        return outcome.shown(door, view)
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.run/1", **outcome.as_json(view), "exit": DONE})
        return DONE
    now = datetime.now(UTC)
    show_plan(door, about._replace(run=view), run_waiting(view, Seen(now, is_served=False)), now)
    return DONE
