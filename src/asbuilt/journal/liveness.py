"""Who is alive, told by a lock that dies with its holder. A bare number may be another process by now."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Whoever asks `holder` has the lock for an instant; a start in that very instant is not to be turned away.
_TRIES: Final = 15
_PAUSE_S: Final = 0.02


@contextmanager
def only_one(lock: Path) -> Iterator[bool]:
    """Hold a lock; False when another process has it."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _taken(descriptor):
            yield False
            return
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield True
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_S)
        else:
            return True
    return False


def holder(lock: Path) -> int | None:
    """Tell which process holds a lock; None when none does. 0: one that has not yet said who it is."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or 0)
    else:
        return None
    finally:
        os.close(descriptor)
