"""`asbuilt task research`: let an agent research what a plan needs. The worker does the work."""

from __future__ import annotations

from typing import Any

import click

from asbuilt.cli.commands.task.asking import Wish, ask, with_flags
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.lifecycle.tasks.numbering import RESEARCH


@click.command(
    "research",
    cls=Command,
    examples=[
        ("asbuilt task research 7", "a report, linked and committed"),
        ("asbuilt task research 7 8 --fast", "two, quickly"),
    ],
)
@click.argument("numbers", nargs=-1, required=True)
@with_flags
@shared(json=True)
def command(door: Door, numbers: tuple[str, ...], *, foreground: bool, **given: Any) -> int:  # noqa: ANN401 - click passes each option by its name
    """Research tasks: a read-only agent submits a report. A plan of the same round follows."""
    return ask(door, RESEARCH, numbers, Wish(roadmap=False, **given), is_here=foreground)
