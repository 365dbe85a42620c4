"""`asbuilt next`: what happens by itself, and when. It writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from asbuilt.cli.clock import ago, lasting, parsed, stamp, until
from asbuilt.cli.columns import pad
from asbuilt.cli.commands import Command
from asbuilt.cli.looking import look
from asbuilt.cli.options import Door, shared
from asbuilt.cli.talking import headline, next_command
from asbuilt.errors import DONE
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.views import due_runs

if TYPE_CHECKING:
    from asbuilt.cli.looking import Moment
    from asbuilt.journal.views import Due


@click.command(
    "next",
    cls=Command,
    examples=[
        ("asbuilt next", "what goes on by itself here, and when"),
        ("asbuilt next --all", "in every repository"),
    ],
)
@click.option("--all", "everywhere", is_flag=True, help="every repository that was ever run in")
@shared(json=True)
def command(door: Door, *, everywhere: bool) -> int:
    """Show what is due by itself: runs that wait for a limit or for a time."""
    _, looking = look(door)
    due: list[Due] = []
    if looking is not None and (everywhere or looking.repo is not None):
        with looking.journal.store.read() as session:
            due = due_runs(session, LOCAL, None if everywhere else looking.repo)
    if door.json:
        rows = [
            {"run": one.name, "plan": one.plan, "due_at": stamp(one.due_at), "why": one.why} for one in due
        ]
        door.screen.emit_json({"schema": "asbuilt.next/1", "due": rows})
        return DONE
    if looking is None or not due:
        door.screen.answer("Nothing is due by itself here.")
        return DONE
    for one in due:
        _show(door, one, looking.moment)
    if looking.moment.worker is None:
        note = f"{door.screen.err.symbols.note} "
        for row in door.screen.err.hanging(note, "No worker lives: nothing of this happens before one does."):
            door.screen.talk(row)
        next_command(door, "asbuilt worker")
    return DONE


def _show(door: Door, one: Due, moment: Moment) -> None:
    left = (parsed(one.due_at) - moment.now).total_seconds()
    if left > 0:
        clock = until(one.due_at, moment.now).partition(", in ")[0]
        when = f"in {lasting(left)}, {clock}"
    else:
        when = f"due for {ago(one.due_at, moment.now)}"
    headline(door, pad(one.name, 12), f"{when}: {one.why}")
