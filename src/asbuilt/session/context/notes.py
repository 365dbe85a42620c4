"""Notes that an agent keeps of a repository, to be read in a later context. One file each; nothing else.

The one rule: a note is never overwritten by half, and its name never leads out of its folder.
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
    """Name the folder for the notes of the repository around `cwd`, else of `cwd` itself; none is made."""
    here = root = os.path.realpath(cwd)
    while not os.path.lexists(f"{root}/.git"):
        if root == "/":
            root = here
            break
        root = os.path.dirname(root)
    # By its path, not by a digest of it: people can find it, and two repositories never share one.
    return f"{state_home(environ)}/notes{root}"


def is_name(name: str) -> bool:
    """Tell whether a note can be called so."""
    return 0 < len(name) <= LONGEST_NAME and _ALLOWED.issuperset(name) and name[0] not in ".-"


def notes_in(folder: str) -> list[Note]:
    """List the notes, the newest first."""
    try:
        found = [one for one in os.scandir(folder) if one.name.endswith(_END) and one.name[0] != "."]
    except FileNotFoundError:
        return []
    notes = [Note(one.name.removesuffix(_END), one.stat(follow_symlinks=False).st_mtime) for one in found]
    return sorted(notes, key=lambda note: note.at, reverse=True)


def note_in(folder: str, name: str) -> str | None:
    """Read a note; None: there is none of that name."""
    return text_in(folder, name + _END) if is_name(name) else None


def keep_note(folder: str, name: str, text: str) -> None:
    """Keep a note, in place of the one of its name."""
    put(folder, name + _END, text)
