"""`asbuilt memory clear`: delete some memories, or all. Deleting by kind or all needs confirmation."""

from __future__ import annotations

import click

from asbuilt.cli.commands.memory.known import KINDS, chosen, known
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, UsageWrong
from asbuilt.journal import memory
from asbuilt.journal.ids import LOCAL


@click.command(
    "clear",
    cls=Command,
    examples=[
        ("asbuilt memory clear m3 m4", "forget two"),
        ("asbuilt memory clear --kind lesson", "forget all lessons, after a yes"),
        ("asbuilt memory clear --yes", "forget all of it"),
    ],
)
@click.argument("names", nargs=-1)
@click.option("--kind", type=KINDS, help="only of this kind")
@click.option("--yes", is_flag=True, help="do not ask")
@shared(json=True)
def command(door: Door, names: tuple[str, ...], *, kind: str | None, yes: bool) -> int:
    """Forget what is named, or all of it. It cannot be brought back."""
    looking, memories = known(door, kind)
    going = [chosen(memories, name) for name in names] if names else memories
    what = counted(len(going), "memory", "memories")
    if going and not names and not yes and not agreed(door, f"Forget {what}?"):
        raise UsageWrong(
            f"{what} would be forgotten, and nobody has said yes",
            why="What is forgotten cannot be brought back.",
            next_step="`asbuilt memory list` shows them; `asbuilt memory clear --yes` forgets them.",
        )
    if looking is not None and looking.repo is not None:
        with looking.journal.store.write() as session:
            memory.forget(session, LOCAL, looking.repo, [one.number for one in going])
    if door.json:
        forgotten = [one.name for one in going]
        door.screen.emit_json({"schema": "asbuilt.memories/1", "forgotten": forgotten})
    else:
        door.screen.answer(f"Forgotten: {what}." if going else "Nothing is remembered here.")
    return DONE
