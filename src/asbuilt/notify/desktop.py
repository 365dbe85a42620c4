"""Desktop notifications, through the system's own program.

Rule: title and text are passed as arguments, never through a shell, a script or markup.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.lifecycle.notify import Message

_PATIENCE_S: Final = 5
_NOTIFY: Final = ("--app-name=asbuilt", "--")
_OSASCRIPT: Final = (
    "-e", "on run argv",
    "-e", "display notification (item 2 of argv) with title (item 1 of argv)",
    "-e", "end run",
)  # fmt: skip


class Desktop:
    """Notifications through a program that takes a title and a text."""

    way: Final = "desktop"

    def __init__(self, program: tuple[str, ...]) -> None:
        """Take the program and its arguments before the title."""
        self._program = program

    def call(self, message: Message) -> str | None:
        """Show a notification; return an error message, or None on success."""
        try:
            shown = subprocess.run(  # noqa: S603 - found on PATH, what is said is an argument
                [*self._program, message.title, message.text],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE_S,
                check=False,
            )
        except OSError as error:
            return f"{self._program[0]}: {error.strerror}"
        except subprocess.TimeoutExpired:
            return f"{self._program[0]} did not end within {_PATIENCE_S} s"
        return f"{self._program[0]} ended with {shown.returncode}" if shown.returncode else None


def desktop(environ: Mapping[str, str], *, platform: str = sys.platform) -> Desktop | None:
    """Return the user's desktop notifier; None without a desktop or a program for it."""
    on_mac = platform == "darwin"
    program = shutil.which("osascript" if on_mac else "notify-send", path=environ.get("PATH"))
    if program is None or not (on_mac or _has_session_bus(environ)):
        return None
    return Desktop((program, *(_OSASCRIPT if on_mac else _NOTIFY)))


def _has_session_bus(environ: Mapping[str, str]) -> bool:
    runtime = environ.get("XDG_RUNTIME_DIR")
    return bool(environ.get("DBUS_SESSION_BUS_ADDRESS")) or bool(runtime and (Path(runtime) / "bus").exists())
