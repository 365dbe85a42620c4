"""Detect live processes by a lock that the kernel releases when its holder dies: pids are reused."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_TRIES: Final = 15
_PAUSE_S: Final = 0.02
_PATIENCE_S: Final = 60.0
"""How long a start waits for processes that only check the lock: each holds it shared for an instant."""


@contextmanager
def only_one(lock: Path) -> Iterator[bool]:
    """Hold a lock; yield False if another process has it."""
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
    """Take the lock; return False if another process holds it exclusively in 15 consecutive tries."""
    refused, until = 0, time.monotonic() + _PATIENCE_S
    while not _locked(descriptor, fcntl.LOCK_EX):
        # If a shared lock is granted, only checking processes are there; on a slow machine this can last.
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
    """Return the pid that holds a lock; None if none does, 0 if the holder has not written its pid yet."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if _locked(descriptor, fcntl.LOCK_SH):
            return None
        return int(os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or 0)
    finally:
        os.close(descriptor)


@contextmanager
def board_at(folder: Path, address: str) -> Iterator[bool]:
    """Record where the board listens, while it does; yield False, and record nothing, if another one runs."""
    with only_one(folder / "lock") as is_only:
        if is_only:
            (folder / "address").write_text(address, encoding="ascii")
        yield is_only


def board_address(folder: Path) -> str:
    """Return where the board listens; empty if none runs."""
    if holder(folder / "lock") is None:
        return ""
    try:
        return (folder / "address").read_text(encoding="ascii")
    except FileNotFoundError:
        return ""
