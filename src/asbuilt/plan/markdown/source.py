"""The bytes of a plan, its text and lines, and edits as splices of bytes.

Rule: every offset maps back to the same byte. Applying an edit returns the new bytes and the inverse edit.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Final, NamedTuple

from msgspec import Struct

from asbuilt.errors import PlanChanged, PlanUnreadable

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
                why="No agent can follow a plan of that size, and no user can review it.",
                next_step='`asbuilt plan new "the second part"`, to split it into several plans',
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
        return max(0, bisect_right(self.starts, offset, 0, len(self.lines)) - 1)


class Splice(Struct, frozen=True, kw_only=True):
    """Some bytes, and their replacement."""

    start: int
    old: bytes
    new: bytes


class Edit(Struct, frozen=True, kw_only=True):
    """Disjoint splices in order, bound to the digest of the bytes they apply to."""

    base: str
    splices: tuple[Splice, ...]

    def apply(self, data: bytes) -> tuple[bytes, Edit]:
        """Return the edited bytes and the inverse edit; raise `PlanChanged` if `data` is not the base."""
        if digest(data) != self.base:
            raise PlanChanged(
                "the plan was changed since it was read",
                why="The other change would be lost; nothing was written.",
                next_step="Run the same command again; it reads the new text.",
            )
        parts: list[bytes] = []
        inverse: list[Splice] = []
        at = 0
        shift = 0
        for splice in self.splices:
            end = splice.start + len(splice.old)
            parts += (data[at : splice.start], splice.new)
            inverse.append(Splice(start=splice.start + shift, old=splice.new, new=splice.old))
            shift += len(splice.new) - len(splice.old)
            at = end
        parts.append(data[at:])
        after = b"".join(parts)
        return after, Edit(base=digest(after), splices=tuple(inverse))


class Splicer:
    """Collects the replacements of one edit in characters, and converts them to bytes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._wanted: list[tuple[Span, str]] = []

    def replace(self, span: Span, text: str) -> None:
        """Replace a span with `text`; an empty span is an insertion."""
        if self._source.text[span.start : span.end] != text:
            self._wanted.append((span, text))

    def edit(self) -> Edit:
        """Return the edit. Replacements of the same span keep the order in which they were added."""
        source = self._source
        splices: list[Splice] = []
        at, byte = 0, source.bom
        for span, text in sorted(self._wanted, key=lambda wanted: wanted[0]):
            byte += len(source.slice(Span(at, span.start)))
            at = span.start
            splices.append(Splice(start=byte, old=source.slice(span), new=encode(text)))
        return Edit(base=digest(source.data), splices=tuple(splices))


def encode(text: str) -> bytes:
    """Encode text into the bytes it was decoded from."""
    return text.encode("utf-8", "surrogateescape")


def digest(data: bytes) -> str:
    """Return the digest of the bytes, as `sha256:HEX`."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
