"""One at a time in the folder of a conversation: two hooks of one turn may run side by side.

The one rule: the lock is the kernel's, so whoever dies with it has given it back.
"""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Locked:
    """The folder of a conversation, mine until the block is left; it is made when it is not there.

    Whoever waits waits as long as it takes: a door has an alarm of its own.
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
