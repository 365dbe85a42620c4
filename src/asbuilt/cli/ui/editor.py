"""Open a file in the user's editor and wait until it exits. asbuilt itself does not write the file."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import NotFound, UsageWrong


def edit(door: Door, file: Path, *, name: str) -> str:
    """Open a file and wait until the editor exits. Return a note if it failed, else an empty string."""
    editor = _editor(door)
    program = Path(editor[0]).name
    try:
        ended = subprocess.run([*editor, str(file)], check=False)  # noqa: S603 - what the person has chosen
    except OSError as error:
        raise NotFound(
            f"the editor {editor[0]} cannot be started: {(error.strerror or 'unknown reason').lower()}",
            why="VISUAL or EDITOR is set to it.",
            next_step="`export VISUAL=vi`, or another editor that is installed.",
        ) from error
    if not file.exists():
        raise NotFound(
            f"{name} is gone",
            why=f"{program} deleted or moved it; nothing else was touched.",
            next_step="`git status` shows what happened, if it was committed before.",
        )
    note = door.screen.err.symbols.note
    return f"{note} {printable(program)} ended with {ended.returncode}." if ended.returncode else ""


def _editor(door: Door) -> list[str]:
    environ = door.environ
    chosen = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip() or "vi"
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = []
    if not words:
        raise UsageWrong(
            f"EDITOR {chosen!r} is no command",
            why="Its quotes do not close.",
            next_step="`export VISUAL=vi`",
        )
    return words
