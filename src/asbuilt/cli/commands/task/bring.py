"""`asbuilt task import`: show edits of specs/state.json and TODO.md, and take them into the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from asbuilt.cli.commands.task.known import finish_views
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, open_site
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, WAITS_FOR_APPROVAL, NotFound
from asbuilt.flows.tasks.views import found_here, wanted_by_hand
from asbuilt.journal.ids import LOCAL
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.state_json import STATE, read_state
from asbuilt.lifecycle.tasks.views import agree

if TYPE_CHECKING:
    from asbuilt.lifecycle.tasks.model import Task

_FIELDS = ("status", "slug", "kind", "description", "artifacts", "next_artifact", "more")


@click.command(
    "import",
    cls=Command,
    examples=[
        ("asbuilt task import", "shows what differs, then asks"),
        ("asbuilt task import --yes", "takes it without a question"),
    ],
)
@click.option("--yes", is_flag=True, help="take it without a question")
@shared(json=True)
def command(door: Door, *, yes: bool) -> int:
    """Take what specs/state.json and TODO.md say into the ledger: tasks that are new, and edits by hand.

    What they say is shown first. The files stay as they are, byte for byte.
    """
    site = open_site(door)
    finish_views(site)
    found = found_here(site.repository.root)
    if found.pair.state is None and found.pair.todo is None:
        raise NotFound(
            f"there is no {STATE} and no {found.todo} here",
            why="There is nothing to take tasks from.",
            next_step='`asbuilt task add "what is wanted"` begins a ledger.',
        )
    with site.journal.store.read() as session:
        here = tasks.every(session, LOCAL, site.repo)
        wanted = wanted_by_hand(session, LOCAL, site.repo, found.pair)
    rows = [_row(here.get(number), task) for number, task in wanted.items()]
    apart = agree(found.pair) if found.pair.state is not None else []
    is_agreed = bool(wanted) and (yes or _asked(door, rows, apart))
    if is_agreed:
        with site.journal.store.write() as session:
            number = read_state(found.pair.state).next_number
            tasks.take(session, LOCAL, site.repo, wanted, next_number=number, actor=asker(door).actor)
    if door.json:
        listed = list(wanted)
        door.screen.emit_json(
            {"schema": "asbuilt.import/1", "differ": listed, "taken": is_agreed, "apart": apart}
        )
    elif not wanted:
        door.screen.answer("The ledger says all of it already.")
    elif is_agreed:
        door.screen.answer(f"{counted(len(wanted), 'task')} taken into the ledger.")
    return DONE if is_agreed or not wanted else WAITS_FOR_APPROVAL


def _asked(door: Door, rows: list[str], apart: list[str]) -> bool:
    if not door.json:
        for row in rows:
            answer(door, "", printable(row))
        for one in apart:
            door.screen.talk(printable(f"The files disagree: {one}."))
    return agreed(door, "Take this into the ledger?")


def _row(before: Task | None, after: Task) -> str:
    """Describe what would change in a task."""
    if before is None:
        return f"+ {after.number} {after.slug} {after.status.mark}"
    changed = [name for name in _FIELDS if getattr(before, name) != getattr(after, name)]
    told = [f"{before.status.mark} -> {after.status.mark}"] if "status" in changed else []
    told += [name.replace("_", " ") for name in changed if name != "status"]
    return f"~ {after.number} {after.slug}: {', '.join(told) or 'times'}"
