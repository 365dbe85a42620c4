"""`asbuilt task status`: set the status of tasks. No file of the repository is written."""

from __future__ import annotations

import click

from asbuilt.cli.commands.task.known import finish_views, plain, status_named
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, open_site
from asbuilt.errors import DONE, UsageWrong
from asbuilt.journal.ids import LOCAL, new_id
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.model import moved, numbers_in, the_task


@click.command(
    "status",
    cls=Command,
    examples=[
        ("asbuilt task status 7 completed", "it is over"),
        ("asbuilt task status 7, 9-11 blocked -m 'waits for keys'", "several, with the reason"),
        ("asbuilt task status 7 not_started", "open one again that was over"),
    ],
)
@click.argument("words", nargs=-1, required=True, metavar="NUMBERS... STATUS")
@click.option("-m", "note", metavar="TEXT", default="", help="why, for whoever looks later")
@shared(json=True)
def command(door: Door, words: tuple[str, ...], *, note: str) -> int:
    """Say how tasks stand: all of those that are named, or none. Saying it again changes nothing."""
    *named, last = words
    status, numbers = status_named(last), numbers_in(named)
    if not numbers:
        raise UsageWrong(
            "no task is named",
            why="A status is of a task.",
            next_step=f"For example: `asbuilt task status 7 {status}`",
        )
    site = open_site(door)
    finish_views(site)
    actor, told = asker(door).actor, []
    with site.journal.store.write() as session:
        tasks.hold(session, LOCAL, site.repo)
        here = tasks.every(session, LOCAL, site.repo)
        for number in numbers:
            task = the_task(here, number)
            changes = moved(task, status)
            if changes is not None:
                key = f"status/{new_id()}"
                task = tasks.change(
                    session, LOCAL, site.repo, number, changes=changes, key=key, actor=actor, why=note[:500]
                )
            told.append((task, changes is not None))
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.tasks/1", "tasks": [plain(task) for task, _ in told]})
    for task, is_new in () if door.json else told:
        door.screen.answer(f"Task {task.number} is {task.status.mark}{'' if is_new else ' already'}.")
    return DONE
