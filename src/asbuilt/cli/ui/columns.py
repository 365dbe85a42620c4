"""Columns on a terminal: how wide a text is there, how it is cut. Characters are not columns."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from asbuilt.cli.ui.symbols import Symbols

_NO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\ufe0e\ufe0f")


def width(text: str) -> int:
    """Count the columns that a text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if char in _NO_WIDTH or combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def pieces(text: str, columns: int) -> list[str]:
    """Break a text that has no place to break: every character is kept, no piece is wider."""
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
    """Fill a text up to so many columns."""
    return text + " " * (columns - width(text))


def shorten(text: str, columns: int, symbols: Symbols) -> str:
    """Cut words at their end, where they tell least."""
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
    """Cut a path in its middle: where it begins and what it is called tell most."""
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
