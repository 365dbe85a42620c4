"""`asbuilt task show`: a task and its history. Read-only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from asbuilt.cli.commands.task.known import known, plain
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer, headline
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE
from asbuilt.journal.ids import LOCAL
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.model import the_task

if TYPE_CHECKING:
    from asbuilt.ledger.tasks import Event
    from asbuilt.lifecycle.tasks.model import Task

_LAST = 12


@click.command(
    "show",
    cls=Command,
    examples=[
        ("asbuilt task show 7", "its status, artifacts, errors and history"),
        ("asbuilt task show 7 --json", "for a script"),
    ],
)
@click.argument("number", type=click.IntRange(1))
@shared(json=True)
def command(door: Door, number: int) -> int:
    """Show one task: how it stands, what was written for it, and what happened to it."""
    looking, tasks_here = known(door)
    task = the_task(tasks_here, number)
    told: list[Event] = []
    if looking is not None:
        with looking.journal.store.read() as session:
            told = tasks.history(session, LOCAL, looking.repo or "", number=number)
    if door.json:
        errors = [one.data["error"] for one in told if one.kind == tasks.FAILED]
        events = [{"at": one.at, "kind": one.kind, "actor": one.actor} for one in told]
        door.screen.emit_json({"schema": "asbuilt.task/1", **plain(task), "errors": errors, "events": events})
        return DONE
    _tell(door, task)
    for one in told[-_LAST:]:
        when = at(one.at, datetime.now(UTC))
        answer(door, f"{when:<13}", printable(f"{_words(one)} ({one.actor})"))
    return DONE


def _tell(door: Door, task: Task) -> None:
    headline(door, f"{task.number} {task.slug}", task.status.mark)
    answer(door, "wants    ", printable(" ".join(task.description.split()) or "nothing is said"))
    answer(door, "type     ", printable(task.kind))
    for one in task.artifacts:
        summary = f"; {one.summary}" if one.summary else ""
        answer(door, f"{one.type:<9}", printable(f"{one.path}{summary}"))
    if task.pending is not None:
        left = f"{task.pending.operation} by {task.pending.session}: {task.pending.reason}"
        answer(door, "pending  ", printable(left))


def _words(event: Event) -> str:
    if event.kind == tasks.FAILED:
        error = event.data["error"]
        return f"{error['id']} {error['type']}: {error['message']}"
    changed = sorted(set(event.data) - {"updated", "why", "session", "pending"})
    if event.kind != tasks.CHANGED:
        return event.kind.partition(".")[2]
    status = f"status {event.data['status']}" if "status" in changed else ""
    others = [name.replace("_", " ") for name in changed if name != "status"]
    return "; ".join(filter(None, [status, *others])) or "touched"
