"""Notes of an agent about a repository, for a later context. One file per note.

Rule: a note is replaced atomically, and its name cannot leave its folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from asbuilt.session.conversation import put, state_home, text_in

_ALLOWED: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
_END: Final = ".md"
LONGEST_NAME: Final = 80
LARGEST: Final = 100_000


class Note(NamedTuple):
    """One note."""

    name: str
    at: float


def shelf(environ: Mapping[str, str], cwd: str) -> str:
    """Return the notes folder of the repository around `cwd`, else of `cwd`; creates nothing."""
    # The path, not a digest of it: users can find it, and no two repositories share a folder.
    return f"{state_home(environ)}/notes{_root(cwd)}"


def memories(cwd: str) -> str:
    """Return the folder in which Serena, an MCP server, keeps its memories of the repository."""
    return f"{_root(cwd)}/.serena/memories"


def _root(cwd: str) -> str:
    here = root = os.path.realpath(cwd)
    while not os.path.lexists(f"{root}/.git"):
        if root == "/":
            return here
        root = os.path.dirname(root)
    return root


def is_name(name: str) -> bool:
    """Return whether a name is valid for a note."""
    return 0 < len(name) <= LONGEST_NAME and _ALLOWED.issuperset(name) and name[0] not in ".-"


def notes_in(*folders: str) -> list[Note]:
    """List the notes of some folders, newest first."""
    notes = []
    for folder in folders:
        try:
            found = [row for row in os.scandir(folder) if row.name.endswith(_END) and row.name[0] != "."]
        except OSError:
            continue
        notes += [
            Note(entry.name.removesuffix(_END), entry.stat(follow_symlinks=False).st_mtime) for entry in found
        ]
    return sorted(notes, key=lambda note: note.at, reverse=True)


def note_in(name: str, *folders: str) -> str | None:
    """Read a note from the first folder that has it; None if there is none of that name."""
    found = (text_in(folder, name + _END) for folder in folders) if is_name(name) else ()
    return next((text for text in found if text is not None), None)


def keep_note(folder: str, name: str, text: str) -> None:
    """Store a note, replacing one of the same name."""
    put(folder, name + _END, text)
