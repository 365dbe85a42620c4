"""The machine's clock as somebody sets it, for the worker and for commands.

Not by libfaketime: with its monotonic clock left alone, a Python that sleeps is told "Invalid argument".
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

_SOURCE = Path(__file__).with_name("clock.c")


class Clock(NamedTuple):
    """A clock that is off by what stands in its file."""

    file: Path
    library: Path

    def set(self, ahead_s: int) -> None:
        """Let it be ahead of the real one by so much; behind when that is negative."""
        with self.file.open("r+b") as opened:
            opened.write(struct.pack("=q", ahead_s))

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process live by it."""
        return {"LD_PRELOAD": str(self.library), "CLOCK_OF_TESTS": str(self.file)}


def clock_in(folder: Path) -> Clock:
    """Make a clock that goes right; a machine without a C compiler is told so by the error."""
    made = Clock(folder / "clock", folder / "clock.so")
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", made.library, _SOURCE],  # noqa: S607
        check=True,
    )
    made.file.write_bytes(bytes(8))
    return made
