"""Bounded output of a process (its head and tail, or its lines), and JSON messages with an agent.

Rule: memory stays below 1.5 times the cap plus one piece of input.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

_PIECE: Final = 1 << 18
_SIGNALLED: Final = range(129, 193)
_MARK: Final = b"\n[asbuilt: %d bytes left out here]\n"


class Capture:
    """The first and the last half of the output, up to a cap."""

    def __init__(self, cap: int) -> None:
        self._head_cap = cap // 2
        self._tail_cap = cap - cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Append output; drops the middle."""
        self._total += len(data)
        room = self._head_cap - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        # Let the tail grow to twice its cap: trimming on every call would copy it each time.
        if len(self._tail) > 2 * self._tail_cap:
            del self._tail[: len(self._tail) - self._tail_cap]

    @property
    def truncated(self) -> bool:
        """Whether any output was dropped."""
        return self._total > self._head_cap + self._tail_cap

    def value(self) -> bytes:
        """Return the captured output, with a marker at the gap."""
        if not self.truncated:
            return bytes(self._head + self._tail)
        tail = self._tail[len(self._tail) - self._tail_cap :]
        left_out = self._total - len(self._head) - len(tail)
        return bytes(self._head + _MARK % left_out + tail)


class Lines:
    """Split a stream into lines; drops and counts lines longer than the cap."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._rest = bytearray()
        self._too_long = False
        self.dropped = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Append output; return the lines it completes."""
        first, *others = data.split(b"\n")
        self._add(first)
        found = []
        for piece in others:
            if not self._too_long:
                found.append(bytes(self._rest))
            self._rest.clear()
            self._too_long = False
            self._add(piece)
        return found

    def _add(self, piece: bytes) -> None:
        if self._too_long:
            return
        self._rest += piece
        if len(self._rest) > self._cap:
            self._rest.clear()
            self._too_long = True
            self.dropped += 1


async def lines_of(process: asyncio.subprocess.Process, lines: Lines) -> AsyncIterator[bytes]:
    """Yield the lines that a process writes to stdout, until it closes it."""
    while process.stdout is not None and (piece := await process.stdout.read(_PIECE)):
        for line in lines.feed(piece):
            yield line


def object_in(line: bytes) -> dict[str, Any] | None:
    """Parse a line; None when it is not a JSON object."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


async def send(process: asyncio.subprocess.Process | None, message: Mapping[str, object]) -> None:
    """Write a message to stdin as one line; ignores a broken pipe, because the end of stdout reports it."""
    with contextlib.suppress(ConnectionError, RuntimeError):
        if process is not None and process.stdin is not None:
            process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
            await process.stdin.drain()


async def exit_within(process: asyncio.subprocess.Process, seconds: float) -> int | None:
    """Return the exit code; None if the process does not exit in time."""
    try:
        return await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        return None


def exit_of(code: int) -> str:
    """Return how a process ended, for a message; a shell reports a signal as 128 and its number."""
    number = -code if code < 0 else code - 128 if code in _SIGNALLED else 0
    return f"was ended by signal {number}" if number else f"ended with exit code {code}"


def last_line(words: str) -> str:
    """Return the last line of an agent's stderr after a colon; empty if there is none."""
    lines = words.strip().splitlines()
    return f": {lines[-1][:300]}" if lines else ""
