"""`asbuilt now`: run a scheduled plan early. The schedule does not change."""

from __future__ import annotations

import click
from msgspec import structs

from asbuilt.cli.commands.run import ask_for
from asbuilt.cli.shell.desk import complete_plan
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import look_at
from asbuilt.cli.ui.messages import next_command
from asbuilt.errors import DONE, UsageWrong
from asbuilt.journal import schedules
from asbuilt.journal.home import machine
from asbuilt.journal.ids import LOCAL
from asbuilt.settings.running import renewed


@click.command(
    "now",
    cls=Command,
    examples=[
        ("asbuilt now rate-limit", "its next phase at once; the schedule stays"),
        ("asbuilt now", "the only plan here that has a schedule"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@shared(json=True)
def command(door: Door, plan: str | None) -> int:
    """Run a scheduled plan early, as its schedule would; nothing of the schedule changes."""
    _, site = look_at(door)
    found = []
    if site is not None:
        with site.journal.store.read() as session:
            found = schedules.every(session, LOCAL, site.repo)
        if plan is not None:
            address = site.address(plan)
            found = [one for one in found if one.address == address]
    if len(found) > 1:
        slugs = sorted(one.slug for one in found)
        raise UsageWrong(
            f"{len(slugs)} plans are scheduled here: {', '.join(slugs)}",
            why="Which one is meant cannot be told.",
            next_step=f"Name it: `asbuilt now {slugs[0]}`",
        )
    if site is None or not found:
        if door.json:
            door.screen.emit_json({"schema": "asbuilt.run/1", "run": None, "exit": DONE})
            return DONE
        door.screen.answer("No active schedule.")
        next_command(door, f'asbuilt run {plan or "PLAN"} --every "4h"')
        return DONE
    (one,) = found
    options, _ = renewed(one.options, site.desk.settings)
    return ask_for(door, site, one.address, one.slug, structs.replace(options, host=machine()))
