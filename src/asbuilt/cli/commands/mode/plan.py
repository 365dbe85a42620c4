"""`asbuilt mode plan`: the text of `/asbuilt:plan`. Turns plan mode on, or shows the plan.

Rule: it never turns plan mode off, so that an agent may run it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from asbuilt.cli.commands.mode.change import begun
from asbuilt.cli.commands.mode.show import words
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE
from asbuilt.policy.plan_mode.hold import HoldUnreadable, plan_file_in
from asbuilt.session.conversation import folder_of, hold_in, keep_hold, key_of, lives
from asbuilt.session.locking import Locked
from asbuilt.session.state import state_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.policy.plan_mode.hold import Hold

_SHOWN_LINES: Final = 200
_ENDS: Final = ", typed at a terminal of your own, ends it"


@click.command(
    "plan",
    cls=Command,
    examples=[("asbuilt mode plan", "what /asbuilt:plan says in a conversation")],
)
@shared(json=False)
def command(door: Door) -> int:
    """Turn plan mode on in the conversation around this command; if it is on, show the plan and its path.

    It ends when you type `asbuilt mode exit` in a terminal of your own.
    """
    key = key_of(door.environ)
    if not key or not lives(key):
        answer(
            door, "", "No conversation of Claude Code is around this command, so nothing holds planning here."
        )
        next_command(door, "asbuilt session --plan -- claude", " starts one that the kernel holds")
        return DONE
    folder = folder_of(door.environ, key)
    with Locked(folder):
        try:
            hold = hold_in(folder)
        except HoldUnreadable as error:
            answer(door, "", f"Planning counts as held, because that cannot be read ({error}).")
            next_command(door, "asbuilt mode exit", _ENDS)
            return DONE
        if hold is None:
            return _begin(door, folder)
    return _show(door, folder, hold)


def _begin(door: Door, folder: str) -> int:
    hold = begun(door)
    keep_hold(folder, hold)
    answer(door, "", f"Enabled plan mode. Nothing changes but a plan in {_shown(door, Path(hold.plans[0]))}.")
    next_command(door, "asbuilt mode exit", _ENDS)
    return DONE


def _show(door: Door, folder: str, hold: Hold) -> int:
    named = list(_named(folder, hold))
    written = [file for file in named if file.is_file()]
    answer(door, "", words(hold))
    if not written:
        answer(door, "", "No plan written yet." + (f" It will be {_shown(door, named[0])}." if named else ""))
        return DONE
    newest = max(written, key=lambda file: file.stat().st_mtime)
    rows = printable(newest.read_text(encoding="utf-8", errors="replace"), lines=True).rstrip().split("\n")
    # Not wrapped, so that it can be copied.
    for row in (f"Plan: {_shown(door, newest)}", "", *rows[:_SHOWN_LINES]):
        door.screen.answer(row)
    if len(rows) > _SHOWN_LINES:
        answer(door, "", f"{counted(len(rows) - _SHOWN_LINES, 'line')} more.")
    return DONE


def _shown(door: Door, path: Path) -> str:
    return printable(str(path.relative_to(door.start) if path.is_relative_to(door.start) else path))


def _named(folder: str, hold: Hold) -> Iterator[Path]:
    """Return the paths of the conversation's plan: as proposed, as written, or as named by Claude Code."""
    yield from (Path(one) for one in (hold.proposed, *hold.plans) if one.endswith(".md"))
    state = state_in(folder)
    try:
        with Path(state.transcript if state else "").open(encoding="utf-8", errors="replace") as lines:
            given = plan_file_in(lines)
    except OSError:
        given = ""
    if given:
        yield Path(given)
