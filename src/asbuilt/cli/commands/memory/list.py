"""`asbuilt memory list`: list the memories of this repository. Read-only."""

from __future__ import annotations

import click

from asbuilt.cli.commands.memory.known import KINDS, known, tell
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.errors import DONE


@click.command(
    "list",
    cls=Command,
    examples=[
        ("asbuilt memory list", "all of it, the newest first"),
        ("asbuilt memory list --kind fact", "what people told"),
        ("asbuilt memory list --json", "for a script"),
    ],
)
@click.option("--kind", type=KINDS, help="only of this kind")
@shared(json=True)
def command(door: Door, *, kind: str | None) -> int:
    """Show what is remembered of this repository, the newest first."""
    _, memories = known(door, kind)
    tell(door, memories, empty="Nothing is remembered here.")
    return DONE
