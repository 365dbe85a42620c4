"""Notes of an agent about a repository, for a later context. One file per note.

Rule: a note is replaced atomically, and its name cannot leave its folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.session.conversation import put, state_home, text_in

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    here = root = os.path.realpath(cwd)
    while not os.path.lexists(f"{root}/.git"):
        if root == "/":
            root = here
            break
        root = os.path.dirname(root)
    # The path, not a digest of it: users can find it, and no two repositories share a folder.
    return f"{state_home(environ)}/notes{root}"


def is_name(name: str) -> bool:
    """Return whether a name is valid for a note."""
    return 0 < len(name) <= LONGEST_NAME and _ALLOWED.issuperset(name) and name[0] not in ".-"


def notes_in(folder: str) -> list[Note]:
    """List the notes, newest first."""
    try:
        found = [one for one in os.scandir(folder) if one.name.endswith(_END) and one.name[0] != "."]
    except FileNotFoundError:
        return []
    notes = [Note(one.name.removesuffix(_END), one.stat(follow_symlinks=False).st_mtime) for one in found]
    return sorted(notes, key=lambda note: note.at, reverse=True)


def note_in(folder: str, name: str) -> str | None:
    """Read a note; None if there is none of that name."""
    return text_in(folder, name + _END) if is_name(name) else None


def keep_note(folder: str, name: str, text: str) -> None:
    """Store a note, replacing one of the same name."""
    put(folder, name + _END, text)
