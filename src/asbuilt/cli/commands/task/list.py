"""`asbuilt task list`: the tasks of this repository. Read-only."""

from __future__ import annotations

import click

from asbuilt.cli.commands.task.known import known, plain, status_named
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE


@click.command(
    "list",
    cls=Command,
    examples=[
        ("asbuilt task list", "what is open"),
        ("asbuilt task list --all", "what is completed or abandoned, too"),
        ("asbuilt task list --status planned", "what waits to be built"),
    ],
)
@click.option("--all", "is_all", is_flag=True, help="also what is completed or abandoned")
@click.option("--status", metavar="STATUS", help="only those that stand so")
@shared(json=True)
def command(door: Door, *, is_all: bool, status: str | None) -> int:
    """Show the tasks of this repository by number."""
    wanted = None if status is None else status_named(status)
    _, tasks = known(door)
    shown = [
        task
        for task in tasks.values()
        if (task.status is wanted if wanted else is_all or not task.status.is_terminal)
    ]
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.tasks/1", "tasks": [plain(task) for task in shown]})
    elif not shown:
        door.screen.answer("No task is open here." if tasks else "No task is written down here.")
    for task in () if door.json else shown:
        words = " ".join(task.description.split()) or task.slug
        answer(door, f"{task.number:<5}{task.status.mark:<15}", printable(words), under=5)
    return DONE
