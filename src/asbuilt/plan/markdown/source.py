"""A plan's bytes, its text and its lines. Rule: every offset maps back to the same byte."""

from __future__ import annotations

import hashlib
import re
from itertools import accumulate
from typing import Final, NamedTuple

from asbuilt.errors import PlanUnreadable

MAX_BYTES: Final = 2_000_000
_BOM: Final = b"\xef\xbb\xbf"
# Only these end a line. str.splitlines() also breaks at U+2028, \x0b and \x85, and shifts every later offset.
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


class Span(NamedTuple):
    """A stretch of the text, as character offsets."""

    start: int
    end: int


class Source:
    """A plan as it was read. Bytes that are not UTF-8 are kept as lone surrogates."""

    __slots__ = ("bom", "data", "line_end", "lines", "starts", "text")

    def __init__(self, data: bytes) -> None:
        if len(data) > MAX_BYTES:
            raise PlanUnreadable(
                f"the plan has {len(data):,} bytes; at most {MAX_BYTES:,} are read",
                why="No agent can follow a plan of that size, and nobody can approve one.",
                next_step="Split it into several plans, or move logs and data out of it.",
            )
        self.data = data
        self.bom = len(_BOM) if data.startswith(_BOM) else 0
        self.text = text = data[self.bom :].decode("utf-8", "surrogateescape")
        whole = _LINE.findall(text)
        self.starts = [0, *accumulate(map(len, whole))]
        self.lines = [line.rstrip("\r\n") for line in whole]
        self.line_end = (whole[0][len(self.lines[0]) :] if whole else "") or "\n"

    def span(self, first: int, after: int) -> Span:
        """Return the span of lines `first` up to, not including, `after` (0-based), with line ends."""
        return Span(self.starts[min(first, len(self.lines))], self.starts[min(after, len(self.lines))])

    def at(self, line: int, start: int, end: int) -> Span:
        """Return the span of some columns of one line (0-based)."""
        return Span(self.starts[line] + start, self.starts[line] + end)

    def slice(self, span: Span) -> bytes:
        """Return the exact bytes of a span."""
        return encode(self.text[span.start : span.end])

    def line_of(self, offset: int) -> int:
        """Return the 0-based line that holds a character offset."""
        low, high = 0, len(self.lines)
        while low + 1 < high:
            middle = (low + high) // 2
            if self.starts[middle] <= offset:
                low = middle
            else:
                high = middle
        return low


def encode(text: str) -> bytes:
    """Encode text into the bytes it was decoded from."""
    return text.encode("utf-8", "surrogateescape")


def digest(data: bytes) -> str:
    """Return the digest of the bytes, as `sha256:HEX`."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
