"""`asbuilt task add`: add a task to the ledger. No file of the repository is written."""

from __future__ import annotations

import click

from asbuilt.cli.commands.task.known import finish_views, has_views_of_others, plain
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, open_site
from asbuilt.cli.ui.messages import next_command
from asbuilt.errors import DONE, GateStopped, UsageWrong
from asbuilt.journal.ids import LOCAL, new_id
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.model import GENERAL, LONGEST, slug_for


@click.command(
    "add",
    cls=Command,
    examples=[
        ('asbuilt task add "limit requests per key"', "gets the next number"),
        ('asbuilt task add "drop Python 3.10" --type chore', "of another type than general"),
        ('asbuilt task add "move sessions to Redis" --name redis', "with a short name of its own"),
    ],
)
@click.argument("description")
@click.option("--type", "kind", default=GENERAL, metavar="TYPE", help="what sort of work it is")
@click.option("--name", metavar="NAME", help="its short name, if not made of its words")
@shared(json=True)
def command(door: Door, description: str, *, kind: str, name: str | None) -> int:
    """Write a new task down, under the next number. Both views show it when they are written next."""
    said = description.strip()
    if not said or len(said) > LONGEST:
        raise UsageWrong(
            f"{len(said)} characters are not the description of a task",
            why=f"It is told to agents and stands in TODO.md: 1 to {LONGEST} characters.",
            next_step="Say what is wanted; more belongs into a document of the repository.",
        )
    site = open_site(door)
    finish_views(site)
    if has_views_of_others(site):
        raise GateStopped(
            "specs/state.json has tasks that are not in the ledger",
            why="A new task would get a number that one of them has.",
            next_step="`asbuilt task import` takes them first.",
        )
    with site.journal.store.write() as session:
        task = tasks.add(
            session,
            LOCAL,
            site.repo,
            slug=slug_for(name or said),
            kind=kind.strip() or GENERAL,
            description=said,
            key=f"add/{new_id()}",
            actor=asker(door).actor,
        )
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.task/1", **plain(task)})
    else:
        door.screen.answer(f"Task {task.number} is written down: {task.slug}.")
        next_command(door, f"asbuilt task plan {task.number}")
    return DONE
