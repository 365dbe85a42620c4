"""`asbuilt memory search`: find memories by words or files. Read-only."""

from __future__ import annotations

import click

from asbuilt.cli.commands.memory.known import known, tell
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.errors import DONE
from asbuilt.lifecycle.memory import ranked


@click.command(
    "search",
    cls=Command,
    examples=[
        ("asbuilt memory search redis timeout", "by words"),
        ("asbuilt memory search --file src/api/app.py", "by a file, or one beside it"),
    ],
)
@click.argument("words", nargs=-1)
@click.option("--file", "files", multiple=True, metavar="PATH", help="a file it is about; more than once")
@shared(json=True)
def command(door: Door, words: tuple[str, ...], *, files: tuple[str, ...]) -> int:
    """Show what is remembered about words or files, the nearest first: the order in which it is recalled."""
    _, memories = known(door)
    weighed = ranked(memories, about=" ".join(words), files=files)
    tell(
        door, [one for weight, one in weighed if weight], empty="Nothing that is remembered here is about it."
    )
    return DONE
