"""A window of tmux, for tests and scripts: a person looks at a screen and presses keys.

Its one rule: the server behind a window is its own, and ends with it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PATIENCE_S: Final = 240.0


class Window:
    """A command in a terminal of its own, with just the environment that it is given."""

    def __init__(
        self,
        *command: str,
        folder: Path,
        environ: Mapping[str, str],
        size: tuple[int, int] = (80, 24),
        ready: str = "",
    ) -> None:
        program = shutil.which("tmux")
        if program is None:
            raise FileNotFoundError("tmux is not installed: apt-get install tmux, or brew install tmux")
        # A path of its own: a folder of tests may be too deep for a socket.
        self._room = tempfile.TemporaryDirectory(prefix="asb-", ignore_cleanup_errors=True)
        self._command = [program, "-u", "-S", str(Path(self._room.name) / "tmux"), "-f", "/dev/null"]
        self._environ = dict(environ)
        columns, rows = map(str, size)
        try:
            self.tmux("new-session", "-d", "-x", columns, "-y", rows, "-c", str(folder), *command)
            self.sees(ready)
        except BaseException:
            self.close()
            raise

    def type(self, text: str) -> None:
        """Type a line."""
        self.tmux("send-keys", "-l", text)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux."""
        for key in keys:
            self.tmux("send-keys", key)

    def screen(self) -> str:
        """Give what the screen shows now, without the blank ends of its lines and of itself."""
        lines = [line.rstrip() for line in self.tmux("capture-pane", "-p").splitlines()]
        return "\n".join(lines).rstrip("\n") + "\n"

    def sees(self, pattern: str) -> str:
        """Wait until something is on the screen, and give that screen."""
        return self.until(lambda screen: re.search(pattern, screen) is not None, pattern)

    def until(self, is_so: Callable[[str], bool], what: str) -> str:
        """Wait until something is true of the screen, and give that screen."""
        end = time.monotonic() + PATIENCE_S
        while not is_so(screen := self.screen()):
            if time.monotonic() > end:
                raise TimeoutError(f"never seen: {what}\n{screen}")
            time.sleep(0.05)
        return screen

    def tmux(self, *arguments: str) -> str:
        """Ask the server for anything, and give what it prints."""
        asked = [*self._command, *arguments]
        return subprocess.run(asked, env=self._environ, check=True, capture_output=True, text=True).stdout

    def close(self) -> None:
        """End the server and what runs in it; one whose command has ended is gone already."""
        asked = [*self._command, "kill-server"]
        subprocess.run(asked, env=self._environ, check=False, capture_output=True)
        self._room.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
