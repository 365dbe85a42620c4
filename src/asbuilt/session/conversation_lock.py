"""Lock on a conversation's folder: two hooks of one turn may run at the same time.

The lock is the kernel's (`flock`), so the death of its holder releases it.
"""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Locked:
    """Exclusive lock on a conversation's folder, held for the block. The folder is created if missing.

    There is no timeout; each entry point has its own alarm.
    """

    __slots__ = ("_file", "_folder")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file = -1

    def __enter__(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(f"{self._folder}/lock", flags, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)
