"""The line below the live view in which the user types a note for the agent.

`m` opens the line, Enter sends the note, Esc or an empty Enter closes it. While it is closed other keys do
nothing, and an `m` right behind one of them is part of a command that was typed too early. Ctrl-C and Ctrl-Z
stay signals.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
import termios
import time
from collections.abc import Sequence
from typing import Any, Final

_OPEN: Final = "m"
_MOST: Final = 240
APART_S: Final = 1.0
"""Seconds without a key before an `m` that opens the line."""
_SEQUENCE: Final = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]")
"""Keys such as arrows, which terminals send as several characters."""
_LOCAL: Final = 3
"""Index of the local modes in a terminal's attributes."""


def typed_on(line: str | None, keys: str, *, after_s: float = APART_S) -> tuple[str | None, Sequence[str]]:
    """Apply typed characters to the line (None: closed); return the line and the finished notes.

    `after_s`: seconds since the last key before them.
    """
    finished: list[str] = []
    plain = _SEQUENCE.sub("", keys)
    if line is None and (after_s < APART_S or not plain.startswith(_OPEN)):
        return None, []
    for key in plain:
        match key:
            case _ if line is None:
                line = "" if key == _OPEN else None
            case "\r" | "\n":
                finished += [line.strip()] if line.strip() else []
                line = None
            case "\x1b":
                line = None
            case "\x7f" | "\b":
                line = line[:-1]
            case "\x15":
                line = ""
            case _ if key.isprintable() and len(line) < _MOST:
                line += key
    return line, finished


class Keyboard:
    """The keys of a terminal, one by one and without echo, while a run is followed in the foreground."""

    def __init__(self, terminal: int | None = None) -> None:
        self._terminal = sys.stdin.fileno() if terminal is None else terminal
        self._before: list[Any] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self) -> None:
        """Read single keys from now on."""
        if self._is_ours():
            self._before = termios.tcgetattr(self._terminal)
            modes = [*self._before]
            modes[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, modes)

    def release(self) -> None:
        """Restore the terminal's own line editing; can be repeated."""
        if self._before is not None and self._is_ours():
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)
        self._before = None

    def keys(self, seconds: float) -> str:
        """Wait up to `seconds` for a key; return what was typed."""
        if self._before is not None and self._is_ours():
            if not select.select([self._terminal], [], [], seconds)[0]:
                return ""
            if data := os.read(self._terminal, 1024):
                return self._decoder.decode(data)
            self._before = None  # the terminal is closed
        time.sleep(seconds)
        return ""

    def _is_ours(self) -> bool:
        """Return whether this process may use the terminal: in the background it would be stopped."""
        try:
            return os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return False
