"""`asbuilt session note`: notes for a later context, stored for each repository outside of it."""

from __future__ import annotations

import sys
import time
from typing import Final

import click

from asbuilt.cli.shell.lazy import Command, Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, NotFound, UsageWrong
from asbuilt.session.context.notes import LARGEST, LONGEST_NAME, is_name, keep_note, note_in, notes_in, shelf
from asbuilt.session.words import ago

_EXAMPLE: Final = 'asbuilt session note add rate-limit-2a "expiry is done, the race is not"'


@click.command(
    "add",
    cls=Command,
    examples=[
        (_EXAMPLE, "keep it under that name"),
        ("asbuilt session note add rate-limit-2a < notes.md", "keep what comes in"),
    ],
)
@click.argument("name")
@click.argument("text", required=False)
@shared(json=False)
def add(door: Door, name: str, text: str | None) -> int:
    """Keep a note under a name, in place of the one before it."""
    if not is_name(name):
        raise UsageWrong(
            f'"{name}" cannot name a note',
            why=f"It becomes a file name: letters, digits, hyphens, dots, at most {LONGEST_NAME} of them.",
            next_step=f"`{_EXAMPLE}`",
        )
    said = text if text is not None else "" if sys.stdin.isatty() else sys.stdin.read(LARGEST + 1)
    if not said.strip() or len(said) > LARGEST:
        raise UsageWrong(
            "a note needs a text" if len(said) <= LARGEST else f"a note has at most {LARGEST:,} characters",
            why="It is read again in a context that has room for other things.",
            next_step=f"`{_EXAMPLE}`",
        )
    keep_note(shelf(door.environ, str(door.start)), name, said.rstrip("\n") + "\n")
    door.screen.answer(f"Kept {name}.")
    return DONE


@click.command(
    "show",
    cls=Command,
    examples=[("asbuilt session note show rate-limit-2a", "the note of that name")],
)
@click.argument("name")
@shared(json=False)
def show(door: Door, name: str) -> int:
    """Show a note."""
    folder = shelf(door.environ, str(door.start))
    text = note_in(folder, name)
    if text is None:
        names = ", ".join(note.name for note in notes_in(folder)[:8])
        raise NotFound(
            f'no note "{name}"',
            why=f"There are {names}." if names else "There are none about this repository.",
            next_step="`asbuilt session note list`",
        )
    for row in text.rstrip("\n").split("\n"):
        door.screen.answer(printable(row))
    return DONE


@click.command(
    "list",
    cls=Command,
    examples=[("asbuilt session note list", "the newest first")],
)
@shared(json=True)
def listing(door: Door) -> int:
    """List the notes about this repository, the newest first."""
    notes, now = notes_in(shelf(door.environ, str(door.start))), time.time()
    if door.json:
        rows = [{"name": note.name, "age_s": int(now - note.at)} for note in notes]
        door.screen.emit_json({"schema": "asbuilt.session-notes/1", "notes": rows})
        return DONE
    if not notes:
        door.screen.answer("No notes about this repository.")
        next_command(door, _EXAMPLE)
    for note in notes:
        door.screen.answer(f"{printable(note.name)}   {door.screen.out.dim(ago(now - note.at))}")
    return DONE


group: Final = LazyGroup(
    "note",
    help="What a later context is to know. An agent saves one before a /clear, and reads it behind it.",
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
