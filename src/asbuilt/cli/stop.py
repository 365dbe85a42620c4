"""`asbuilt stop`: end a run; all work is kept. The worker does it; this command waits until it is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from asbuilt import wiring
from asbuilt.cli import outcome
from asbuilt.cli.commands import Command
from asbuilt.cli.options import Door, shared
from asbuilt.cli.plan.desk import complete_plan
from asbuilt.cli.site import asker, site_of
from asbuilt.errors import DONE, WorkerFailed
from asbuilt.flows.requests import stop
from asbuilt.journal import runs
from asbuilt.journal.views import run_view

if TYPE_CHECKING:
    from asbuilt.cli.site import Site
    from asbuilt.journal.runs import Run
    from asbuilt.journal.views import RunView

_PATIENCE_S: Final = 60.0


@click.command(
    "stop",
    cls=Command,
    examples=[
        ("asbuilt stop rate-limit", "end its run; every file of it is kept"),
        ('asbuilt stop rate-limit -m "wrong approach"', "and say why"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("-m", "--message", metavar="TEXT", default="asked for", help="why, for the journal")
@shared(json=True)
def command(door: Door, plan: str, *, message: str) -> int:
    """End a run: its agent ends, its files are kept under a ref, its claim is released."""
    site = site_of(door, plan)
    run = site.run(plan)
    if not stop(site.journal.store, run, reason=message, asker=asker(door)):
        view = _view(site, run)
        if door.json:
            door.screen.emit_json({"schema": "asbuilt.run/1", **outcome.as_json(view), "exit": DONE})
        else:
            door.screen.answer(f"{view.name} is over already: {view.run.state}.")
        return DONE
    wiring.ensure_worker(site.journal.home, door.environ)
    until = time.monotonic() + _PATIENCE_S
    while not (view := _view(site, run)).run.is_over:
        if time.monotonic() > until:
            raise WorkerFailed(
                f"{view.name} has not stopped within {_PATIENCE_S:.0f} s",
                why="The wish is written down, and the worker carries it out when it gets to it.",
                next_step=f"`asbuilt status {run.options['slug']}` shows how far it is.",
            )
        time.sleep(0.1)
    outcome.shown(door, view)
    return DONE


def _view(site: Site, run: Run) -> RunView:
    with site.journal.store.read() as session:
        found = runs.find(session, run.org, run.repo, run.run)
        return run_view(session, site.journal.blobs, found or run)
