"""Lock of a folder against other asbuilt writers."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PATIENCE_S: Final = 5.0


@contextmanager
def alone(folder: Path) -> Iterator[None]:
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
    until = time.monotonic() + _PATIENCE_S
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
