"""Measure, pad and cut text in terminal columns. A character takes 0, 1 or 2 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from asbuilt.cli.ui.symbols import Symbols

_NO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\ufe0e\ufe0f")


def width(text: str) -> int:
    """Return the number of columns of a text."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if char in _NO_WIDTH or combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def pieces(text: str, columns: int) -> list[str]:
    """Split a text into pieces of at most `columns` columns. Every character is kept."""
    if width(text) <= columns:
        return [text]
    broken, piece, taken = [], "", 0
    for char in text:
        if piece and taken + _columns(char) > columns:
            broken.append(piece)
            piece, taken = "", 0
        piece, taken = piece + char, taken + _columns(char)
    return [*broken, piece]


def pad(text: str, columns: int) -> str:
    """Pad a text with spaces to a number of columns."""
    return text + " " * (columns - width(text))


def table(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Draw rows with aligned columns; `right` aligns all columns but the first to the right."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_cells(row, widths, right=right)).rstrip() for row in rows]


def _cells(row: Sequence[str], widths: Sequence[int], *, right: bool) -> Iterator[str]:
    for at, (cell, columns) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(columns) if right and at else pad(cell, columns)


def shorten(text: str, columns: int, symbols: Symbols) -> str:
    """Cut a text at its end and append an ellipsis."""
    if width(text) <= columns:
        return text
    room = columns - len(symbols.ellipsis)
    kept = 0
    for at, char in enumerate(text):
        kept += _columns(char)
        if kept > room:
            return text[:at].rstrip() + symbols.ellipsis
    return text


def cut_path(path: str, columns: int, symbols: Symbols) -> str:
    """Cut the middle of a path, and keep its start and its file name."""
    if width(path) <= columns:
        return path
    room = max(columns - len(symbols.ellipsis), 2)
    head, tail = "", ""
    for char in path:
        if width(head + char) > room // 2:
            break
        head += char
    for char in reversed(path):
        if width(head + tail + char) > room:
            break
        tail = char + tail
    return head + symbols.ellipsis + tail
