"""`asbuilt task plan`: let an agent plan tasks. The worker does the work."""

from __future__ import annotations

from typing import Any

import click

from asbuilt.cli.commands.task.asking import Wish, ask, with_flags
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.lifecycle.tasks.numbering import PLAN


@click.command(
    "plan",
    cls=Command,
    examples=[
        ("asbuilt task plan 7", "planned, linked and committed"),
        ("asbuilt task plan 7, 22-24, 59", "several; what cannot be planned is said and skipped"),
        ("asbuilt task plan 7 --hard --model opus", "more thought, by another model"),
        ("asbuilt task plan 7 --roadmap", "with a phase that brings specs/ROADMAP.md up to date"),
    ],
)
@click.argument("numbers", nargs=-1, required=True)
@click.option("--roadmap", is_flag=True, help="a first and a last phase about specs/ROADMAP.md")
@with_flags
@shared(json=True)
def command(door: Door, numbers: tuple[str, ...], *, foreground: bool, **given: Any) -> int:  # noqa: ANN401 - click passes each option by its name
    """Plan tasks: a read-only agent submits a plan, and asbuilt validates it.

    The task is "planning" while the agent works and "planned" afterwards. The plan, its link and both views
    are one commit. If the plan cannot be used, the task stays "planning" and the reason is shown.
    """
    return ask(door, PLAN, numbers, Wish(**given), is_here=foreground)
