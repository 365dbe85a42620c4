"""Take the last lines of a command's output for display. Pure; secrets are masked here."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.policy.masking import masked

LINES: Final = 15
WIDTH: Final = 200
"""Most characters of a line; a longer line ends with an ellipsis."""
_READ: Final = 262_144
"""Bytes read from the end of an output. A private key that starts before them is not recognised."""
_CONTROL: Final = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?   # CSI: colours, cursor, erasing
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] ) [^\x07\x1b\x9c\n]* (?: \x07 | \x1b\\ | \x9c )?  # titles
    | \x1b [ -/]* [0-~]?
    """,
    re.VERBOSE,
)


def last_lines(output: bytes, count: int = LINES) -> tuple[str, ...]:
    """Return the last lines of an output: no escape sequences, progress bars, blank lines or secrets."""
    text = output[-_READ:].decode("utf-8", "replace")
    plain = _CONTROL.sub("", text).replace("\r\n", "\n")
    drawn = "\n".join(_final(line) for line in plain.split("\n"))
    lines = [fitted for line in masked(drawn).split("\n") if (fitted := _fitted(line))]
    return tuple(lines[-count:])


def _final(line: str) -> str:
    """Return what a terminal shows of a line that a program has overwritten."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _fitted(line: str) -> str:
    line = line.expandtabs(4).rstrip()
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
