"""`asbuilt resume`: go on after a stop, a limit, a failure or a crash. What is proven is never done again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from asbuilt import wiring
from asbuilt.cli import outcome
from asbuilt.cli.commands import Command
from asbuilt.cli.options import Door, shared
from asbuilt.cli.plan.desk import complete_plan, next_command
from asbuilt.cli.run import look_on
from asbuilt.cli.site import asker, site_of
from asbuilt.errors import DONE
from asbuilt.flows import environment
from asbuilt.flows.requests import Declined, go_on, request
from asbuilt.journal.ids import new_id

if TYPE_CHECKING:
    from asbuilt.cli.site import Site
    from asbuilt.journal.runs import Run


@click.command(
    "resume",
    cls=Command,
    examples=[
        ("asbuilt resume rate-limit", "go on where it ended"),
        ("asbuilt resume rate-limit --agent scripted --script FILE", "with another agent"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("--agent", metavar="NAME", help="another agent than before")
@click.option(
    "--script",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="what the scripted agent plays",
)
@shared(json=True)
def command(door: Door, plan: str, *, agent: str | None, script: str | None) -> int:
    """Go on with a run: a parked one now, one that ended as a new run from where it was."""
    site = site_of(door, plan)
    run = site.run(plan)
    if not run.is_over:
        return _wake(door, site, run)
    if run.state in ("landed", "undone", "done"):
        door.screen.answer(f"{run.options['slug']}.{run.number} is over: {run.state}. Nothing to go on with.")
        return DONE
    if run.state == "held":
        door.screen.answer(f"{run.options['slug']}.{run.number} is proven; it waits to be landed.")
        next_command(door, f"asbuilt land {run.options['slug']}")
        return DONE
    chosen = {name: value for name, value in (("agent", agent), ("script", script)) if value}
    desktop = site.desk.settings.flag("attention.desktop")
    options = {**run.options, **chosen, "desktop": desktop, "continues": run.run}
    fresh = new_id()
    environment.keep(site.journal.home.runs / fresh, door.environ)
    asked = request(
        site.journal.store,
        run.address,
        slug=run.options["slug"],
        options=options,
        asker=asker(),
        run=fresh,
    )
    if isinstance(asked, Declined):
        return outcome.declined(door, run.options["slug"], asked)
    return look_on(door, site, asked, wiring.ensure_worker(site.journal.home, door.environ))


def _wake(door: Door, site: Site, run: Run) -> int:
    """Let a run that waits go on now; one that was cut off goes on by itself once a worker is there."""
    go_on(site.journal.store, run, asker=asker())
    pid = wiring.ensure_worker(site.journal.home, door.environ)
    return look_on(door, site, run, pid)
