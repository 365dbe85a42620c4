"""Write files: atomic compare-and-swap on the digest. A user's edit in between is never lost.

After a `kill -9` between a swap and its undo, a text that was saved in that moment is in a hidden file next
to its place. `clear_away` removes such a file only when the caller knows that its text exists elsewhere.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Final, NamedTuple

from asbuilt.errors import AsbuiltError, NameTaken, NotFound, PlanChanged, PlanUnreadable, PlanUnwritable
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.disk import HELD, appear, exchange, left_beside, seen, undisturbed, write_beside
from asbuilt.library.repository_discovery import real
from asbuilt.plan.markdown.source import digest

_PATIENCE_S: Final = 3.0  # 50 rounds were once not enough against a program that saved without a pause
_LOCK_S: Final = 5.0
_AGAIN: Final = "Run the same command again; it reads the file again."
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


def replace(file: Path, data: bytes, *, expected: str, name: str = "") -> None:
    """Replace a file whose digest is `expected` with `data`; raises `PlanChanged` for any other content.

    The new file is exchanged with the old one atomically, and only then is the old one checked. If it was
    saved in between, or is still open for writing, it is put back. Where the system cannot exchange, the
    check comes just before the rename. `name` is the file's name in messages.
    """
    target, name = real(file), name or str(file)
    try:
        with _alone(target.parent):
            _replace(target, data, expected, name)
    except FileNotFoundError as error:
        raise PlanChanged(
            f"{name} is gone since it was read", why="Another program moved or deleted it.", next_step=_AGAIN
        ) from error
    except OSError as error:
        raise _unwritable(name, error, target.parent) from error


def _replace(file: Path, data: bytes, expected: str, name: str) -> None:
    _expect(expected, seen(file), name)
    if not file.stat().st_mode & 0o222 or not os.access(file, os.W_OK):
        raise PlanUnwritable(
            f"{name} is write-protected",
            why="The file is write-protected. It has not changed.",
            next_step=f"`chmod u+w {quote(str(file))}`, then run the same command again.",
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
    with _alone(target.parent):
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
        raise _astray(fresh, file, name) from error
    raise _astray(fresh, file, name)


def create(file: Path, data: bytes, *, name: str = "") -> None:
    """Create a file atomically; raises `NameTaken` if it exists."""
    name = name or str(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise _unwritable(name, NotADirectoryError(0, "its folder is a file"), file.parent) from error
    except OSError as error:
        raise _unwritable(name, error, file.parent) from error
    try:
        with _alone(file.parent):
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
            next_step=f"`${{EDITOR:-vi}} {quote(str(file))}`, or choose another name.",
        ) from error
    except OSError as error:
        raise _unwritable(name, error, file.parent) from error


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


def _unwritable(name: str, error: OSError, folder: Path) -> PlanUnwritable:
    is_locked, is_full = isinstance(error, BlockingIOError), error.errno in _FULL
    reason = "another program keeps its folder locked" if is_locked else error.strerror
    folder = next((place for place in (folder, *folder.parents) if os.access(place, os.F_OK)), folder)
    shows = "df -h" if is_full else "ls -ld"
    return PlanUnwritable(
        f"{name} cannot be written: {(reason or 'unknown reason').lower()}",
        why="Nothing was changed; the file is as it was.",
        next_step=_AGAIN if is_locked else f"`{shows} {quote(str(folder))}`, then try again.",
    )


def _astray(fresh: Path, file: Path, name: str) -> PlanUnwritable:
    return PlanUnwritable(
        f"{name} was saved by another program meanwhile, and its text could not be restored",
        why="Nothing is lost: their text is in the hidden file beside it.",
        next_step=f"`diff {quote(str(file))} {quote(str(fresh))}`, then keep the right one.",
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Exclude other asbuilt writers in this folder, by a lock on the folder itself; leaves no lock file."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(descriptor)
        yield
        # Some file systems refuse to fsync a folder; renamed files are complete all the same.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    until = time.monotonic() + _LOCK_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        except OSError:  # a file system without locks: the exchange alone must do
            return
        else:
            return
