"""Measure, pad and cut text in terminal columns. A character takes 0, 1 or 2 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from unicodedata import category, east_asian_width

if TYPE_CHECKING:
    from asbuilt.cli.ui.symbols import Symbols


def width(text: str) -> int:
    """Return the number of columns of a text."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if east_asian_width(char) in "WF":
        return 2
    return 0 if category(char) in ("Mn", "Me", "Cf") else 1


def first(text: str, columns: int) -> str:
    """Return the start of a text, at most `columns` columns."""
    taken = 0
    for at, char in enumerate(text):
        taken += _columns(char)
        if taken > columns:
            return text[:at]
    return text


def pieces(text: str, columns: int) -> list[str]:
    """Split a text into pieces of at most `columns` columns: at a space, which is lost, or inside a word."""
    broken = []
    while width(text) > columns:
        piece = first(text, columns) or text[0]
        words = text[: len(piece) + 1].rpartition(" ")[0]
        cut, rest = (words, len(words) + 1) if words.strip() else (piece, len(piece))
        broken.append(cut)
        text = text[rest:]
    return [*broken, text]


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
    return first(text, columns - len(symbols.ellipsis)).rstrip() + symbols.ellipsis


def shorten_sentence(text: str, columns: int, symbols: Symbols) -> str:
    """Cut a sentence behind its last whole word that fits, and append an ellipsis."""
    shown = shorten(text, columns, symbols)
    kept = shown.removesuffix(symbols.ellipsis)
    if shown == text or text[len(kept) : len(kept) + 1].isspace() or " " not in kept:
        return shown
    return kept.rpartition(" ")[0].rstrip() + symbols.ellipsis


def shorten_id(name: str, columns: int, symbols: Symbols) -> str:
    """Cut the id of a phase at a hyphen: the id of a phase without a number has the words of its title."""
    shown = shorten(name, columns, symbols)
    kept = shown.removesuffix(symbols.ellipsis)
    if shown == name or name[len(kept)] == "-" or "-" not in kept:
        return shown
    return kept.rpartition("-")[0] + symbols.ellipsis


def cut_middle(text: str, columns: int, symbols: Symbols) -> str:
    """Cut the middle of a text: the start of a path and its file name stay."""
    if width(text) <= columns:
        return text
    room = max(columns - len(symbols.ellipsis), 2)
    head = first(text, room // 2)
    tail = first(text[::-1], room - width(head))[::-1]
    return head + symbols.ellipsis + tail
