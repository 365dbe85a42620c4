"""Rows of styled text, measured in terminal columns.

Pure. Rule: foreign text is made printable here, and a fitted row is never wider than its canvas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from asbuilt.cli.ui import columns
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.symbols import ASCII, Symbols

Style = Literal["", "bold", "dim", "green", "red", "yellow"]
_NARROW: Final = 60
_NAME: Final = (3, 12)
"""Least and greatest width of the ids of phases and stages: `2a`, `alternatives`."""
_COMMAND: Final = "`"


class Piece(NamedTuple):
    """A part of a row in one style."""

    text: str
    style: Style = ""


Row = tuple[Piece, ...]


class Canvas(NamedTuple):
    """Size of the drawing area, and its symbols."""

    width: int
    height: int
    symbols: Symbols

    @property
    def is_narrow(self) -> bool:
        """Whether columns on the right are left out."""
        return self.width < _NARROW

    def safe(self, text: str) -> str:
        """Make foreign text printable: one row, no control characters, only encodable characters."""
        return self.verbatim(" ".join(text.split()))

    def verbatim(self, text: str) -> str:
        """Make a foreign row printable, and keep its spaces."""
        shown = printable(text)
        return shown.encode("ascii", "backslashreplace").decode("ascii") if self.symbols is ASCII else shown

    def cut(self, text: str, width: int) -> str:
        """Cut a text at its end to `width` columns."""
        if columns.width(text) <= width:
            return text
        ellipsis = self.symbols.ellipsis if len(self.symbols.ellipsis) < width else ""
        return columns.first(text, max(0, width - len(ellipsis))) + ellipsis

    def padded(self, text: str, width: int) -> str:
        """Cut or pad a text to exactly `width` columns."""
        shown = self.cut(text, width)
        return shown + " " * (width - columns.width(shown))

    def named(self, phase: str, among: Iterable[str] = ()) -> str:
        """Return a phase's id, padded to the longest id of `among`, and a space."""
        least, most = _NAME
        longest = max(columns.width(self.safe(name)) for name in (phase, *among))
        wide = min(max(longest, least), most)
        return f"{self.padded(columns.shorten_id(self.safe(phase), wide, self.symbols), wide)} "

    def fitted(self, row: Row) -> Row:
        """Cut a row at its end to the canvas's width."""
        if columns.width(text_of(row)) <= self.width:
            return row
        kept: list[Piece] = []
        left = self.width - len(self.symbols.ellipsis)
        for piece in row:
            kept.append(piece._replace(text=columns.first(piece.text, left)))
            left -= columns.width(piece.text)
        return _joined([*kept, Piece(self.symbols.ellipsis)])

    def wrapped(self, lead: str, text: str, *, under: int | None = None, most: int = 3) -> list[Row]:
        """Wrap prose under its lead, in at most `most` rows. Commands in backticks are bold and unbroken."""
        indent = columns.width(lead) if under is None else under
        rows: list[list[Piece]] = [[Piece(lead)]]
        column, gap = columns.width(lead), ""
        for word in _words(text):
            wide = columns.width(word.text)
            if gap and column + 1 + wide > self.width:
                if len(rows) == most:
                    rows[-1].append(Piece(f" {self.symbols.ellipsis}"))
                    break
                rows.append([Piece(" " * indent)])
                column, gap = indent, ""
            rows[-1] += [Piece(gap), word] if gap else [word]
            column, gap = column + len(gap) + wide, " "
        return [self.fitted(_joined(row)) for row in rows]


def text_of(row: Row) -> str:
    """Return a row without its styles."""
    return "".join(piece.text for piece in row)


def _words(text: str) -> Iterator[Piece]:
    parts = text.split(_COMMAND)
    if len(parts) % 2 == 0:
        parts = [text]
    for number, part in enumerate(parts):
        if number % 2:
            yield Piece(part, "bold")
        else:
            yield from map(Piece, part.split())


def _joined(pieces: list[Piece]) -> Row:
    """Join neighbouring pieces of one style, to write fewer escape sequences."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].style == piece.style:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.style)
        elif piece.text:
            joined.append(piece)
    return tuple(joined)
