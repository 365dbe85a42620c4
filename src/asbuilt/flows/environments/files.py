"""Lock folders; write and read files in a checkout that hostile code may have written."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from asbuilt.git.workspace.checkouts import delete
from asbuilt.proof.counts import MAX_XML

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def fresh(folder: Path) -> Path:
    """Replace whatever is at a path with an empty folder."""
    delete(folder)
    folder.mkdir(mode=0o700)
    return folder


@contextmanager
def locked(folder: Path, *, waits: bool) -> Iterator[bool]:
    """Lock a folder; yield False if another process has it and this one does not wait.

    The kernel releases the lock if this process dies.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def put(place: Path, path: str, content: bytes | None) -> None:
    """Write a file below a folder, or delete it. No link is followed: the tree may be hostile."""
    *folders, name = path.split("/")
    for folder in folders:
        place = place / folder
        if place.is_symlink() or not place.is_dir():
            if content is None:
                return
            delete(place)
            place.mkdir(mode=stat.S_IRWXU)
    delete(place / name)
    if content is not None:
        (place / name).write_bytes(content)


def content_of(report: Path, cap: int = MAX_XML) -> bytes | None:
    """Read at most `cap` + 1 bytes that a check wrote; None unless it is a regular file. Follows no link."""
    try:
        descriptor = os.open(report, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as opened:
        return opened.read(cap + 1)
