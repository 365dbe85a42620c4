"""`asbuilt plan open`: edit a plan in the user's editor, then show what changed. Only the editor writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import Desk, complete_plan, desk_for, problem_counts
from asbuilt.cli.ui.editor import edit
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, FAILED, UsageWrong

if TYPE_CHECKING:
    from asbuilt.library.opening import Opened


@subcommand(
    "open",
    ("asbuilt plan open rate-limit", "in $VISUAL or $EDITOR"),
    ("EDITOR='code --wait' asbuilt plan open rate-limit", "in another editor"),
    json=False,
)
@click.argument("plan", shell_complete=complete_plan)
def command(door: Door, plan: str) -> int:
    """Edit a plan in your editor, then show the changes."""
    if not door.may_ask:
        raise UsageWrong(
            "plan open needs a terminal",
            why="The editor needs a terminal.",
            next_step="Edit the file directly, then `asbuilt plan check`.",
        )
    desk = desk_for(door)
    before = desk.open(plan)
    failure = edit(door, before.at.file, name=before.at.shown)
    after = desk.read(before.at)
    _report(door, desk, before, after)
    if not failure:
        return DONE
    door.screen.talk(failure)
    return FAILED


def _report(door: Door, desk: Desk, before: Opened, after: Opened) -> None:
    screen, path, plan = door.screen, printable(after.at.shown), after.plan
    if before.plan.digest == plan.digest:
        screen.answer(f"{path} is unchanged.")
        return
    if before.plan.intent == plan.intent:
        screen.answer(f"{path}: only status marks changed; the requirements are unchanged.")
    else:
        screen.answer(f"{path}: the requirements changed.")
    problems = problem_counts(plan)
    screen.answer(f"{counted(len(plan.phases), 'phase')}, {problems or 'no problems'}.")
    if problems:
        next_command(door, f"asbuilt plan check {desk.name_of(after.at)}")
