"""Keep what a process says within bounds: the head and the tail of its output, and its lines one by one.

The one rule: memory is bounded by the cap, whatever comes.
"""

from __future__ import annotations

from typing import Final

_MARK: Final = b"\n[asbuilt: %d bytes left out here]\n"


class Capture:
    """The first and the last half of what came, up to a cap."""

    def __init__(self, cap: int) -> None:
        self._head_cap = cap // 2
        self._tail_cap = cap - cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Take what came; the middle goes."""
        self._total += len(data)
        room = self._head_cap - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        # Cutting at every piece would copy the tail each time: it may grow to its double.
        if len(self._tail) > 2 * self._tail_cap:
            del self._tail[: len(self._tail) - self._tail_cap]

    @property
    def truncated(self) -> bool:
        """Tell whether anything was left out."""
        return self._total > self._head_cap + self._tail_cap

    def value(self) -> bytes:
        """Give what was kept, with the gap named in its place."""
        if not self.truncated:
            return bytes(self._head + self._tail)
        tail = self._tail[len(self._tail) - self._tail_cap :]
        left_out = self._total - len(self._head) - len(tail)
        return bytes(self._head + _MARK % left_out + tail)


class Lines:
    """Split a stream into lines; one that is longer than the cap is dropped and counted."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._rest = bytearray()
        self._too_long = False
        self.dropped = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take what came, give the lines that are complete."""
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
