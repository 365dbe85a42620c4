"""`asbuilt session note`: notes for a later context, stored for each repository outside of it."""

from __future__ import annotations

import sys
import time
from typing import Final

import click

from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import NotFound, UsageWrong
from asbuilt.session.context.notes import (
    LARGEST,
    LONGEST_NAME,
    is_name,
    keep_note,
    memories,
    note_in,
    notes_in,
    shelf,
)
from asbuilt.session.messages import ago

_EXAMPLE: Final = 'asbuilt session note add rate-limit-2a "expiry is done, the race is not"'


@subcommand(
    "add",
    (_EXAMPLE, "keep it under that name"),
    ("asbuilt session note add rate-limit-2a < notes.md", "keep what comes in"),
    json=False,
)
@click.argument("name")
@click.argument("text", required=False)
def add(door: Door, name: str, text: str | None) -> None:
    """Keep a note under a name, in place of the one before it."""
    if not is_name(name):
        raise UsageWrong(
            f'"{name}" cannot name a note',
            why=f"It becomes a file name: letters, digits, hyphens, dots, at most {LONGEST_NAME} of them.",
            next_step=f"`{_EXAMPLE}`",
        )
    content = text if text is not None else "" if sys.stdin.isatty() else sys.stdin.read(LARGEST + 1)
    if not content.strip() or len(content) > LARGEST:
        raise UsageWrong(
            "a note needs a text"
            if len(content) <= LARGEST
            else f"a note has at most {LARGEST:,} characters",
            why="A later context reads the whole note and needs room for its own work.",
            next_step=f"`{_EXAMPLE}`",
        )
    keep_note(shelf(door.environ, str(door.start)), name, content.rstrip("\n") + "\n")
    door.screen.answer(f"Kept {name}.")


@subcommand("show", ("asbuilt session note show rate-limit-2a", "the note of that name"), json=False)
@click.argument("name")
def show(door: Door, name: str) -> None:
    """Show a note."""
    folders = _folders(door)
    text = note_in(name, *folders)
    if text is None:
        names = ", ".join(note.name for note in notes_in(*folders)[:8])
        raise NotFound(
            f'no note "{name}"',
            why=f"There are {names}." if names else "There are none about this repository.",
            next_step="`asbuilt session note list`",
        )
    door.screen.answer_all(map(printable, text.rstrip("\n").split("\n")))


@subcommand("list", ("asbuilt session note list", "the newest first"))
def listing(door: Door) -> None:
    """List the notes about this repository, the newest first."""
    notes, now = notes_in(*_folders(door)), time.time()
    rows = [{"name": note.name, "age_s": int(now - note.at)} for note in notes]
    if door.emitted("asbuilt.session-notes/1", {"notes": rows}):
        return
    if not notes:
        door.screen.answer("No notes about this repository.")
        next_command(door, _EXAMPLE)
    for note in notes:
        door.screen.answer(f"{printable(note.name)}   {door.screen.out.dim(ago(now - note.at))}")


def _folders(door: Door) -> tuple[str, str]:
    """Return the folders of notes: asbuilt's own, then Serena's memories."""
    here = str(door.start)
    return shelf(door.environ, here), memories(here)


group: Final = LazyGroup(
    "note",
    help="Notes for a later context. An agent saves a note before a /clear, and reads it behind it.",
    examples=[
        (_EXAMPLE, "keep it"),
        ("asbuilt session note list", "the newest first"),
        ("asbuilt session note show rate-limit-2a", "read one"),
    ],
    commands={
        "add": Lazy("session.note:add", "keep a note under a name"),
        "show": Lazy("session.note:show", "read one"),
        "list": Lazy("session.note:listing", "the newest first"),
    },
)
