"""`asbuilt plan open`: a plan in the person's own editor, then what changed. Only the editor writes."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asbuilt.cli.commands import Command
from asbuilt.cli.options import Door, shared
from asbuilt.cli.plan.desk import complete_plan, desk_for, next_command, problem_counts
from asbuilt.cli.screen import printable
from asbuilt.cli.words import counted
from asbuilt.errors import DONE, FAILED, NotFound, UsageWrong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.cli.plan.desk import Desk
    from asbuilt.library.finding import Opened


@click.command(
    "open",
    cls=Command,
    examples=[
        ("asbuilt plan open rate-limit", "in $VISUAL or $EDITOR"),
        ("EDITOR='code --wait' asbuilt plan open rate-limit", "in another one"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@shared(json=False)
def command(door: Door, plan: str) -> int:
    """Edit a plan in your own editor, then hear what changed."""
    if not door.may_ask:
        raise UsageWrong(
            "plan open needs a terminal",
            why="An editor without anybody in front of it would wait for ever.",
            next_step="Edit the file directly, then `asbuilt plan check`.",
        )
    desk = desk_for(door)
    before = desk.open(plan)
    editor = _editor(door.environ)
    try:
        ended = subprocess.run([*editor, str(before.at.file)], check=False)  # noqa: S603
    except OSError as error:
        raise NotFound(
            f"the editor {editor[0]} cannot be started: {(error.strerror or 'unknown reason').lower()}",
            why="It is what VISUAL or EDITOR names.",
            next_step="Set EDITOR to an editor that is installed.",
        ) from error
    if not before.at.file.exists():
        raise NotFound(
            f"{before.at.shown} is gone",
            why=f"{Path(editor[0]).name} deleted or moved it; nothing else was touched.",
            next_step="`git status` shows what happened, if it was committed before.",
        )
    after = desk.read(before.at)
    _tell(door, desk, before, after)
    if ended.returncode == 0:
        return DONE
    door.screen.talk(
        f"{door.screen.err.symbols.note} {printable(Path(editor[0]).name)} ended with {ended.returncode}."
    )
    return FAILED


def _editor(environ: Mapping[str, str]) -> list[str]:
    chosen = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip() or "vi"
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = []
    if not words:
        raise UsageWrong(
            f"EDITOR {chosen!r} is no command", why="Its quotes do not close.", next_step="Set EDITOR anew."
        )
    return words


def _tell(door: Door, desk: Desk, before: Opened, after: Opened) -> None:
    screen, path, plan = door.screen, printable(after.at.shown), after.plan
    if before.plan.digest == plan.digest:
        screen.answer(f"{path} is unchanged.")
        return
    if before.plan.intent == plan.intent:
        screen.answer(f"{path}: only marks changed; what the plan wants is the same.")
    else:
        screen.answer(f"{path}: what the plan wants has changed.")
    problems = problem_counts(plan)
    screen.answer(f"{counted(len(plan.phases), 'phase')}, {problems or 'no problems'}.")
    if problems:
        next_command(door, f"asbuilt plan check {desk.name_of(after.at)}")
