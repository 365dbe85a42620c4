"""Commands that clear the way of a refused landing. Rule: nothing of the user is lost.

`git stash` restores a file that it took by its path only if nothing else was staged, so the index decides
whether it takes everything.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from asbuilt.git.repository import Checkout, Repository

_LONGEST: Final = 300
"""Most characters of a command; a longer one is left to the user."""
_GLOB: Final = "*?[\\"
_KEPT: Final = ".mine"


class Remedy(Struct, frozen=True, kw_only=True):
    """A command for the user, and its comment."""

    command: str
    comment: str
    clears: bool = True
    """Whether the landing works right after it; False: it shows what the user has to settle."""


def stash(repository: Repository, checkout: Checkout, paths: Sequence[str], old: str) -> Remedy:
    """Return the command that stashes changed files: those alone, or all if anything is staged."""
    named = "" if _staged(checkout, old) else f" push -- {' '.join(quote(_spec(path)) for path in paths)}"
    command = f"{_git(repository, checkout)} stash{named}"
    if not _can_be_typed(command):
        command = f"{_git(repository, checkout)} stash"
    back = f"{_git(repository, checkout)} stash pop"
    return Remedy(command=command, comment=f"then {back} brings your changes back; merge what conflicts")


def set_aside(
    repository: Repository, checkout: Checkout, paths: Sequence[str], added: frozenset[bytes], old: str
) -> Remedy:
    """Return the command that renames files in the way; staged ones are stashed.

    A file below a path that the landing adds is left to the user: its folder has to go.
    """
    if set(paths) & set(_staged(checkout, old)):
        return stash(repository, checkout, paths, old)
    moves = [(checkout.path / path, _free(checkout.path / path)) for path in paths]
    command = " && ".join(f"mv {quote(str(file))} {quote(str(kept))}" for file, kept in moves)
    parents = {os.fsencode(path).rpartition(b"/")[0] for path in paths}
    if not _can_be_typed(command) or any(_is_below(parent, added) for parent in parents):
        return look(repository, checkout, "lists your files")
    kept_as = moves[0][1].name if len(moves) == 1 else f"…{_KEPT}"
    return Remedy(command=command, comment=f"keeps your file{'s' * (len(moves) > 1)} as {kept_as}")


def look(repository: Repository, checkout: Checkout, comment: str) -> Remedy:
    """Return the command that shows what the user has to settle in a checkout."""
    return Remedy(command=f"{_git(repository, checkout)} status", comment=comment, clears=False)


def _can_be_typed(command: str) -> bool:
    return len(command) <= _LONGEST and command.isprintable() and "`" not in command


def _git(repository: Repository, checkout: Checkout) -> str:
    is_here = checkout.path.resolve() == repository.root.resolve()
    return "git" if is_here else f"git -C {quote(str(checkout.path))}"


def _spec(path: str) -> str:
    """Return a pathspec that means one file, from every folder of the checkout."""
    return f":(top,literal){path}" if any(character in path for character in _GLOB) else f":/{path}"


def _staged(checkout: Checkout, old: str) -> tuple[str, ...]:
    fields = checkout.git.run("diff-index", "--cached", "-z", "--name-only", "--no-renames", old, "--").fields
    return tuple(os.fsdecode(field) for field in fields)


def _free(file: Path) -> Path:
    kept, number = file.with_name(f"{file.name}{_KEPT}"), 2
    while os.path.lexists(kept):
        kept, number = file.with_name(f"{file.name}{_KEPT}{number}"), number + 1
    return kept


def _is_below(folder: bytes, added: frozenset[bytes]) -> bool:
    parts = folder.split(b"/")
    return any(b"/".join(parts[:length]) in added for length in range(1, len(parts) + 1))
