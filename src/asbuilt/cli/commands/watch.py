"""`asbuilt watch`: follow a run. It starts nothing; Ctrl-C leaves the run running."""

from __future__ import annotations

import click

from asbuilt import wiring
from asbuilt.cli.commands.run.follow import look_on
from asbuilt.cli.runs import outcome
from asbuilt.cli.shell.addresses import is_served
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_plan
from asbuilt.cli.shell.run_context import Site, look_at, site_of, the_only
from asbuilt.cli.ui.messages import next_command
from asbuilt.errors import DONE
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.overview import plan_views
from asbuilt.journal.runs import Run


@subcommand(
    "watch",
    ("asbuilt watch", "the only open run here"),
    ("asbuilt watch rate-limit", "the newest run of this plan"),
)
@click.argument("plan", required=False, shell_complete=complete_plan)
def command(door: Door, plan: str | None) -> int:
    """Follow a run: what its agent does, what is proven, what it waits for.

    Ctrl-C leaves it running. `m` opens a line for a note to the agent, which its next attempt gets.
    """
    if plan is not None:
        site = site_of(door, plan)
        return _look_on(door, site, site.run(plan))
    _, found = look_at(door)
    under_way = [] if found is None else _under_way(found)
    if found is None or not under_way:
        if door.emitted("asbuilt.run/1", {"run": None, "state": None, "exit": DONE}):
            return DONE
        door.screen.answer("Nothing is running here.")
        next_command(door, "asbuilt status")
        return DONE
    run = the_only(under_way, [run.options.slug for run in under_way], "watch")
    return DONE if run is None else _look_on(door, found, run)


def _under_way(site: Site) -> list[Run]:
    with site.journal.store.read() as session:
        views = plan_views(session, site.journal.blobs, LOCAL, site.repo)
    return [view.run.run for view in views if view.run is not None and not view.run.run.is_over]


def _look_on(door: Door, site: Site, run: Run) -> int:
    pid = wiring.worker_pid(site.journal.home)
    if run.is_over or is_served(site.journal):
        return look_on(door, site, run, pid or 0, starts=False)
    return outcome.shown(door, site.view(run), is_served=False)
