"""A conversation with the real `claude` in a terminal: a person looks at a screen and presses keys.

The one rule: nothing is pressed before what it answers is on the screen.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

from tests.live.conversation import WAIT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.live.conversation import Place

READY: Final = r"(mode|edits|permissions) on (\(shift|·)|\? for shortcuts"


class Terminal:
    """One pane of a tmux server of its own."""

    def __init__(
        self,
        place: Place,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> None:
        self.place = place
        self._socket = f"asb-live-{uuid.uuid4().hex[:12]}"
        tmp = place.room / "tmp"
        tmp.mkdir(exist_ok=True)
        variables = {
            **place.lodging.environment,
            "HOME": str(place.home),
            "TMPDIR": str(tmp),
            "CLAUDE_CODE_TMPDIR": str(tmp),
            "TERM": "xterm-256color",
            **(environment or {}),
        }
        given = [f"{name}={value}" for name, value in variables.items()]
        command = ["env", "-i", *given, *before, str(place.lodging.program), *arguments]
        self._tmux(
            "-f/dev/null", "new-session", "-d", "-x150", "-y50", f"-c{place.shop}", shlex.join(command)
        )
        try:
            self.sees(READY)
        except BaseException:
            self.close()
            raise

    def type(self, text: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-l", text)
        self.sees(re.escape(text[:20]))
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux."""
        time.sleep(0.3)
        for key in keys:
            self._tmux("send-keys", key)

    def answer(self, key: str, is_taken: Callable[[str], bool]) -> None:
        """Answer a dialog by a key; one that is only being drawn does not hear it yet, and is told again."""
        end = time.monotonic() + WAIT_S
        while not is_taken(self.screen()):
            assert time.monotonic() < end, f"{key} is not taken\n{self.screen()}"
            self.press(key)
            time.sleep(0.7)

    def sees(self, pattern: str) -> str:
        """Wait until something is on the screen, and give the screen."""
        return self.until(lambda: re.search(pattern, self.screen()) is not None, pattern)

    def until(self, is_so: Callable[[], bool], what: str) -> str:
        """Wait for anything."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if is_so():
                return self.screen()
            time.sleep(0.1)
        raise AssertionError(f"not seen: {what}\n{self.screen()}")

    def screen(self) -> str:
        """Look."""
        return self._tmux("capture-pane", "-p")

    def mode(self) -> str:
        """Read the permission mode from the last lines; empty: none is shown."""
        found = re.findall(r"(\w[\w ]*) on (?:\(shift|·)", self.screen())
        return found[-1] if found else ""

    def close(self) -> None:
        """Close the terminal over it; one whose program was killed may be gone already."""
        with suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *arguments],  # noqa: S607
            check=True,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self.place.home)},
        )
        return done.stdout
