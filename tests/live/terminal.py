"""A conversation with the real `claude` in a terminal: a person looks at a screen and presses keys.

The one rule: nothing is pressed before what it answers is on the screen.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

from tests.live.starting import SYSTEM_PATH
from tests.window import PATIENCE_S, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.live.conversation import Place

READY: Final = r"(mode|edits|permissions) on (\(shift|·)|\? for shortcuts"


class Terminal(Window):
    """A window with `claude` in it, and only with what it is given."""

    def __init__(
        self,
        place: Place,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> None:
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
        super().__init__(
            "env", "-i", *given, *before, str(place.lodging.program), *arguments,
            folder=place.shop,
            environ={"PATH": SYSTEM_PATH, "LANG": "C.UTF-8", "HOME": str(place.home)},
            size=(150, 50),
            ready=READY,
        )  # fmt: skip

    def type(self, text: str) -> None:
        """Type a line."""
        self.tmux("send-keys", "-l", text)
        self.sees(re.escape(text[:20]))
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux."""
        time.sleep(0.3)
        super().press(*keys)

    def answer(self, key: str, is_taken: Callable[[str], bool]) -> None:
        """Answer a dialog by a key; one that is only being drawn does not hear it yet, and is told again."""
        end = time.monotonic() + PATIENCE_S
        while not is_taken(self.screen()):
            assert time.monotonic() < end, f"{key} is not taken\n{self.screen()}"
            self.press(key)
            time.sleep(0.7)

    def mode(self) -> str:
        """Read the permission mode from the last lines; empty: none is shown."""
        found = re.findall(r"(\w[\w ]*) on (?:\(shift|·)", self.screen())
        return found[-1] if found else ""
