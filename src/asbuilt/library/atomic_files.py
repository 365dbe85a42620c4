"""Write files: atomic compare-and-swap on the digest. A user's edit in between is never lost.

After a `kill -9` between a swap and its undo, a text that was saved in that moment is in a hidden file next
to its place. `clear_away` removes such a file only when the caller knows that its text exists elsewhere.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.errors import AsbuiltError, NameTaken, NotFound, PlanChanged, PlanUnreadable, PlanUnwritable
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.disk import HELD, appear, exchange, left_beside, seen, undisturbed, write_beside
from asbuilt.library.folder_lock import alone
from asbuilt.library.repository import real
from asbuilt.plan.markdown.source import digest

_PATIENCE_S: Final = 3.0  # 50 rounds were once not enough against a program that saved without a pause
_AGAIN: Final = "Run the same command again; it reads the file again."


def replace(file: Path, data: bytes, *, expected: str, name: str = "") -> None:
    """Replace a file whose digest is `expected` with `data`; raises `PlanChanged` for any other content.

    The new file is exchanged with the old one atomically, and only then is the old one checked. If it was
    saved in between, or is still open for writing, it is put back. Where the system cannot exchange, the
    check comes just before the rename. `name` is the file's name in messages.
    """
    target, name = real(file), name or str(file)
    try:
        with alone(target.parent):
            _replace(target, data, expected, name)
    except FileNotFoundError as error:
        raise PlanChanged(
            f"{name} is gone since it was read", why="Another program moved or deleted it.", next_step=_AGAIN
        ) from error
    except OSError as error:
        raise _unwritable(name, error) from error


def _replace(file: Path, data: bytes, expected: str, name: str) -> None:
    _expect(expected, seen(file), name)
    if not file.stat().st_mode & 0o222 or not os.access(file, os.W_OK):
        raise PlanUnwritable(
            f"{name} is write-protected",
            why="The file is write-protected. It has not changed.",
            next_step="`chmod u+w` it, then run the same command again.",
        )
    fresh = write_beside(file, data)
    try:
        # Writing takes a while. Checking again here avoids a swap and its undo in most cases.
        _expect(expected, seen(file), name)
        with undisturbed():
            if not exchange(fresh, file):
                fresh.replace(file)
            elif (out := seen(fresh)) != expected:
                _give_back(fresh, file, digest(data), name)
                _expect(expected, out, name)
    except BaseException:  # cleaned up, and raised again
        if _is_ours(fresh, data):
            fresh.unlink()
        raise
    with suppress(FileNotFoundError):
        fresh.unlink()


def clear_away(file: Path, *, is_known: Callable[[bytes], bool]) -> None:
    """Delete what killed writers left next to a file, if `is_known` returns true for its contents."""
    target = real(file)
    with alone(target.parent):
        for left in left_beside(target):
            with suppress(NotFound, PlanUnreadable):
                if is_known(read_bytes(left)):
                    left.unlink()


def _is_ours(fresh: Path, data: bytes) -> bool:
    try:
        return seen(fresh) == digest(data)
    except OSError:
        return False


def _give_back(fresh: Path, file: Path, inside: str, name: str) -> None:
    """Put the old file back, until the exchange returns what was put in: the last save wins."""
    try:
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            waits = seen(fresh)
            try:
                exchange(fresh, file)
            except FileNotFoundError:  # deleted, or an editor is between its two renames
                with suppress(FileExistsError):
                    appear(fresh, file)
                    return
                continue
            if seen(fresh) == inside:
                fresh.unlink()
                return
            inside = waits
    except OSError as error:
        raise _astray(fresh, name) from error
    raise _astray(fresh, name)


def create(file: Path, data: bytes, *, name: str = "") -> None:
    """Create a file atomically; raises `NameTaken` if it exists."""
    name = name or str(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise _unwritable(name, NotADirectoryError(0, "its folder is a file")) from error
    except OSError as error:
        raise _unwritable(name, error) from error
    try:
        with alone(file.parent):
            fresh = write_beside(file, data)
            try:
                appear(fresh, file)
            except BaseException:  # cleaned up, and raised again
                fresh.unlink()
                raise
    except FileExistsError as error:
        raise NameTaken(
            f"{name} exists already",
            why="Nothing is ever overwritten.",
            next_step="Choose another name, or edit the existing file.",
        ) from error
    except OSError as error:
        raise _unwritable(name, error) from error


class Change(NamedTuple):
    """One of several files to change together."""

    file: Path
    before: bytes
    after: bytes
    name: str


def replace_all(changes: Sequence[Change]) -> None:
    """Replace all files or none: reverts the replaced ones when a later one fails."""
    written: list[Change] = []
    try:
        for change in changes:
            replace(change.file, change.after, expected=digest(change.before), name=change.name)
            written.append(change)
    except (AsbuiltError, KeyboardInterrupt):
        for change in reversed(written):
            replace(change.file, change.before, expected=digest(change.after), name=change.name)
        raise


def _expect(expected: str, found: str, name: str) -> None:
    if found == HELD:
        raise PlanChanged(
            f"{name} is open for writing in another program",
            why="What it writes next would be lost; nothing was written.",
            next_step="Save and close it there, then run the same command again.",
        )
    if found != expected:
        raise PlanChanged(
            f"{name} was changed since it was read",
            why="Another program's text would be lost. Nothing was written.",
            next_step=_AGAIN,
        )


def _unwritable(name: str, error: OSError) -> PlanUnwritable:
    reason = (
        "another program keeps its folder locked" if isinstance(error, BlockingIOError) else error.strerror
    )
    return PlanUnwritable(
        f"{name} cannot be written: {(reason or 'unknown reason').lower()}",
        why="Nothing was changed; the file is as it was.",
        next_step="Correct the permissions or free space, then try again.",
    )


def _astray(fresh: Path, name: str) -> PlanUnwritable:
    return PlanUnwritable(
        f"{name} was saved by another program meanwhile, and its text could not be restored",
        why="Nothing is lost: their text is in the hidden file beside it.",
        next_step=f"Compare the file with {fresh}, and keep the right one.",
    )
