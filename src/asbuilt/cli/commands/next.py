"""`asbuilt next`: list parked and scheduled runs, and when they start. Read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.reading import complete_address, look, look_for
from asbuilt.cli.ui.clock import ago, lasting, parsed, stamp, until
from asbuilt.cli.ui.columns import pad
from asbuilt.cli.ui.messages import headline, next_command
from asbuilt.cli.ui.timetable import as_json, command_of
from asbuilt.errors import DONE
from asbuilt.journal import schedules
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.overview import due_runs

if TYPE_CHECKING:
    from asbuilt.cli.shell.reading import Moment
    from asbuilt.journal.queries.overview import Due
    from asbuilt.journal.schedules import Schedule


@click.command(
    "next",
    cls=Command,
    examples=[
        ("asbuilt next", "what goes on by itself here, and when"),
        ("asbuilt next rate-limit", "when one plan goes on"),
        ("asbuilt next --all", "in every repository"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_address)
@click.option("--all", "everywhere", is_flag=True, help="every repository that was ever run in")
@shared(json=True)
def command(door: Door, plan: str | None, *, everywhere: bool) -> int:
    """Show what is due by itself: runs that wait for a limit or for a time, and schedules."""
    _, looking = look(door)
    due: list[Due] = []
    set_up: list[Schedule] = []
    if looking is not None and (everywhere or looking.repo is not None):
        repo = None if everywhere else looking.repo
        with looking.journal.store.read() as session:
            due, set_up = due_runs(session, LOCAL, repo), schedules.every(session, LOCAL, repo)
        if looking.moment.worker is not None:
            due = [one for one in due if not one.is_running]
    if plan is not None:
        path = look_for(door, plan).find(plan)[0].plan
        due = [one for one in due if one.plan == path]
        set_up = [one for one in set_up if one.plan == path]
    if door.json:
        rows = [
            {"run": one.name, "plan": one.plan, "due_at": stamp(one.due_at), "why": one.why} for one in due
        ]
        told = [as_json(one) for one in set_up]
        door.screen.emit_json({"schema": "asbuilt.next/1", "due": rows, "schedules": told})
        return DONE
    if looking is None or not (due or set_up):
        what = "here" if plan is None else f"with {plan}"
        door.screen.answer(f"Nothing is due by itself {what}: no active schedule.")
        return DONE
    for one in due:
        _show(door, one.name, one.due_at, one.why, looking.moment)
    for scheduled in set_up:
        _show(door, scheduled.slug, scheduled.due_at, command_of(scheduled), looking.moment)
    if looking.moment.worker is None:
        note = f"{door.screen.err.symbols.note} "
        for row in door.screen.err.hanging(note, "No worker lives: nothing of this happens before one does."):
            door.screen.talk(row)
        next_command(door, "asbuilt worker")
    return DONE


def _show(door: Door, name: str, due_at: str, what: str, moment: Moment) -> None:
    left = (parsed(due_at) - moment.now).total_seconds()
    if left > 0:
        clock = until(due_at, moment.now).partition(", in ")[0]
        when = f"in {lasting(left)}, {clock}"
    else:
        when = f"due for {ago(due_at, moment.now)}"
    headline(door, pad(name, 12), f"{when}: {what}")
