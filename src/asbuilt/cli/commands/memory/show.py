"""`asbuilt memory show`: show one memory in full. Read-only."""

from __future__ import annotations

import click

from asbuilt.cli.commands.memory.known import chosen, known, plain
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE


@click.command(
    "show", cls=Command, examples=[("asbuilt memory show m3", "what it says, since when, and from whom")]
)
@click.argument("name")
@shared(json=True)
def command(door: Door, name: str) -> int:
    """Show one thing that is remembered: what it says, what it is about, since when, and from whom."""
    looking, memories = known(door)
    one = chosen(memories, name)
    if door.json or looking is None:
        door.screen.emit_json({"schema": "asbuilt.memory/1", **plain(one)})
        return DONE
    answer(door, f"{one.name:<7}", printable(one.text))
    since = f"{one.by}, {at(one.at, looking.moment.now)}"
    for label, value in (
        ("kind", one.kind),
        ("plan", one.plan),
        ("files", ", ".join(one.files)),
        ("from", since),
    ):
        if value:
            answer(door, f"{label:<7}", printable(value))
    return DONE
