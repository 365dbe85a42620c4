"""Bounded capture of a process's output: its head and tail, and its lines.

Rule: memory stays below 1.5 times the cap plus one piece of input.
"""

from __future__ import annotations

from typing import Final

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
