"""The preloaded library that strikes at a system call, and the board on which all processes count."""

from __future__ import annotations

import os
import struct
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.crash.points import SYSCALLS

if TYPE_CHECKING:
    from pathlib import Path

_SOURCE: Final = "tests/crash/strike.c"
_LAYOUT: Final = struct.Struct("=3Q3Qii2000s")
_AT: Final = 24
_WORKER: Final = 48


def compiled(folder: Path, root: Path) -> Path:
    """Compile the library; a machine without a C compiler is told so by the error."""
    library = folder / "strike.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, root / _SOURCE],  # noqa: S607
        check=True,
    )
    return library


class Struck(NamedTuple):
    """What a board says: how many calls of each class were made, and who was killed at one."""

    counts: dict[str, int]
    victim: int
    words: str


class Board:
    """A file that every process of a world maps."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.write_bytes(bytes(_LAYOUT.size))

    def aim(self, kind: str, number: int) -> None:
        """Strike at a call of a class, counted from 1."""
        self._write(_AT + 8 * SYSCALLS.index(kind), struct.pack("=Q", number))

    def serve(self, worker: int) -> None:
        """Say which process is the worker now."""
        self._write(_WORKER, struct.pack("=i", worker))

    def read(self) -> Struck:
        """Read what was counted and who was killed."""
        fields = _LAYOUT.unpack(self.file.read_bytes())
        words = fields[8].rstrip(b"\0 ").decode("utf-8", "replace")
        return Struck(dict(zip(SYSCALLS, fields[:3], strict=True)), fields[7], words)

    def _write(self, place: int, content: bytes) -> None:
        descriptor = os.open(self.file, os.O_WRONLY)
        try:
            os.pwrite(descriptor, content, place)
        finally:
            os.close(descriptor)
