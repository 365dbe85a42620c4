"""`asbuilt resume`: continue after a stop, a limit, a failure or a crash. Proven phases are not repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import structs

from asbuilt import wiring
from asbuilt.cli.commands.run import ask_for, look_on
from asbuilt.cli.runs.grants import need_grants
from asbuilt.cli.runs.terms import with_team
from asbuilt.cli.shell.desk import complete_plan, desk_for, next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, look_at, site_of, the_only
from asbuilt.cli.wording.runs import change_words
from asbuilt.errors import DONE, GATE_STOPPED
from asbuilt.flows.requests import go_on, renew
from asbuilt.flows.run.environment import keep_given
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL
from asbuilt.settings.running import renewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.journal.runs import Run
    from asbuilt.settings.running import Change


@click.command(
    "resume",
    cls=Command,
    examples=[
        ("asbuilt resume rate-limit", "go on where it ended"),
        ("asbuilt resume", "the only run here that can go on"),
        ("asbuilt resume rate-limit --agent scripted --script FILE", "with another agent"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option("--agent", metavar="NAME", help="another agent than before")
@click.option(
    "--script",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="what the scripted agent plays",
)
@shared(json=True)
def command(door: Door, plan: str | None, *, agent: str | None, script: str | None) -> int:
    """Continue a run: a paused or parked run at once, an ended run as a new run from where it stopped."""
    site, run = _chosen(door, plan)
    if site is None or run is None:
        if door.json:
            door.screen.emit_json({"schema": "asbuilt.run/1", "run": None, "exit": DONE})
        else:
            door.screen.answer("No run here waits to go on.")
        return DONE
    if not run.is_over:
        return _wake(door, site, run)
    if run.state in ("landed", "undone", "done"):
        door.screen.answer(f"{run.options.slug}.{run.number} is over: {run.state}. Nothing to go on with.")
        return DONE
    if run.state in ("held", "pr-ready", "pr-ci-failing"):
        door.screen.answer(f"{run.options.slug}.{run.number} is proven; it waits to be landed.")
        next_command(door, f"asbuilt land {run.options.slug}")
        return DONE
    options, changes = renewed(run.options, site.desk.settings)
    if not _agreed(door, changes):
        return GATE_STOPPED
    settings = site.desk.settings
    if script:
        options = structs.replace(options, script=script)
    if agent:
        options = with_team(options, settings, door.environ, agent=agent, script=options.script)
    phase = _same_phase(site.view(run)) or options.phase
    options = structs.replace(options, phase=phase, continues=run.run)
    return ask_for(door, site, run.address, run.options.slug, options)


def _agreed(door: Door, changes: Sequence[Change]) -> bool:
    """Show settings that changed since the run started. Ask for confirmation if a command changed."""
    for one in changes:
        for line in door.screen.err.hanging("Settings ", change_words(*one), commands=False):
            door.screen.talk(line)
    if not any(one.is_command for one in changes) or not door.may_ask or door.json:
        return True
    return click.confirm("Continue with them?", default=True, err=True)


def _chosen(door: Door, plan: str | None) -> tuple[Site | None, Run | None]:
    if plan is not None:
        site = site_of(door, plan)
        return site, site.run(plan)
    _, found = look_at(door)
    if found is None:
        return None, None
    with found.journal.store.read() as session:
        newest = runs.unfinished(session, LOCAL, found.repo)
    is_served = wiring.worker_pid(found.journal.home) is not None
    able = [run for run in newest if _can_go_on(found.view(run), is_served=is_served)]
    return found, the_only(able, "resume")


def _can_go_on(view: RunView, *, is_served: bool) -> bool:
    """Return whether a run is not progressing and `asbuilt resume` continues it."""
    if view.run.is_over:
        return view.run.state in ("failed", "stopped")
    if view.run.state == "waiting":
        return not view.questions
    return view.is_paused or not is_served


def _same_phase(view: RunView) -> str | None:
    """Return the proven phase of a single-phase run, so that resuming lands it and starts no other."""
    proven = [phase.id for phase in view.phases if phase.state == "proven"]
    return proven[-1] if proven and view.run.options.mode == "phase" else None


def _wake(door: Door, site: Site, run: Run) -> int:
    """Resume a waiting run now. An interrupted run continues once a worker is alive."""
    options, changes = renewed(run.options, site.desk.settings)
    if not _agreed(door, changes):
        return GATE_STOPPED
    options = need_grants(door, options)
    # Reload the settings: a new grant is stored there.
    site = site._replace(desk=desk_for(door))
    keep_given(site.journal.home.runs / run.run, door.environ, options)
    renew(site.journal.store, run, site.desk.settings, asker=asker(door))
    go_on(site.journal.store, run, asker=asker(door))
    pid = wiring.ensure_worker(site.journal.home, door.environ)
    return look_on(door, site, run, pid)
