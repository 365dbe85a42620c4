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

_TRIES: Final = 15
_PAUSE_S: Final = 0.02
_PATIENCE_S: Final = 60.0
"""How long a start waits for processes that only look: each has the lock for an instant, shared."""


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
    """Take the lock; False when another process holds it exclusively, 15 looks in a row."""
    refused, until = 0, time.monotonic() + _PATIENCE_S
    while not _locked(descriptor, fcntl.LOCK_EX):
        # Where a shared lock is granted, only lookers are there; a slow machine keeps them there for long.
        refused = 0 if _locked(descriptor, fcntl.LOCK_SH) else refused + 1
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        if refused >= _TRIES or time.monotonic() > until:
            return False
        time.sleep(_PAUSE_S)
    return True


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
