"""Read plan files: regular files only, up to a size limit, so that a pipe or device cannot block."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from shlex import quote
from typing import Final

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.plan.markdown.source import MAX_BYTES

_WORDS: Final = {
    errno.EACCES: "it may not be read",
    errno.ELOOP: "its links lead in a circle",
    errno.ENOTDIR: "part of its path is not a folder",
    errno.ENAMETOOLONG: "its name is too long",
}


def read_bytes(file: Path, *, limit: int = MAX_BYTES, name: str = "") -> bytes:
    """Return a file's bytes; raises `NotFound` or `PlanUnreadable`."""
    name = name or str(file)
    try:
        # Without O_NONBLOCK, opening a pipe without a writer would block forever.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            with os.fdopen(descriptor, "rb") as opened:
                return within(opened.read(limit + 1), limit, name)
        os.close(descriptor)
    except FileNotFoundError as error:
        raise NotFound(
            f"there is no file {name}",
            why="asbuilt uses a path exactly as written.",
            next_step="`asbuilt plan list` shows the plans that are here.",
        ) from error
    except OSError as error:
        raise _unreadable(name, error) from error
    raise PlanUnreadable(
        f"{name} is not a file",
        why="A plan is a Markdown file; a folder, pipe or device holds none.",
        next_step="`asbuilt plan list` shows the plans that are here.",
    )


def within(data: bytes, limit: int, name: str) -> bytes:
    """Return the bytes, or raise `PlanUnreadable` beyond the limit; the rest was not read, so no total."""
    if len(data) <= limit:
        return data
    raise PlanUnreadable(
        f"{name} has more than {limit:,} bytes",
        why="A plan of that size can be neither followed nor approved.",
        next_step='`asbuilt plan new "the second part"`, to split it into several plans',
    )


def _unreadable(name: str, error: OSError) -> PlanUnreadable:
    reason = _WORDS.get(error.errno or 0) or (error.strerror or "it could not be opened").lower()
    return PlanUnreadable(
        f"{name} cannot be read: {reason}",
        why="A plan that cannot be read cannot be followed.",
        next_step=f"`ls -ld {quote(name)}` shows who may read it.",
    )
