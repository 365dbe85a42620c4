"""What a page is made of, in whatever form it is written.

The one rule: a text is only ever a text here; each form makes it harmless in its own way, in one place.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from asbuilt.proof.pictures import Picture

Tone = Literal["proven", "failed", "open", "plain"]
"""`proven` is shown in green, and only for what we hold evidence of ourselves."""


class Code(NamedTuple):
    """A command, a path, a hash."""

    text: str


class Said(NamedTuple):
    """Somebody's words, which prove nothing."""

    by: str
    text: str


class Mark(NamedTuple):
    """One word that tells how something came out."""

    word: str
    tone: Tone


Inline = str | Code | Said | Mark
Words = tuple[Inline, ...]


class Heading(NamedTuple):
    """A heading inside a section."""

    words: Words


class Paragraph(NamedTuple):
    """A paragraph."""

    words: Words


class Point(NamedTuple):
    """One point of a list, with what belongs to it below."""

    words: Words
    below: tuple[Words, ...] = ()


class Points(NamedTuple):
    """A list."""

    points: tuple[Point, ...]


class Table(NamedTuple):
    """Rows under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]


class Listing(NamedTuple):
    """Lines to be typed or read as they are."""

    text: str


class Figure(NamedTuple):
    """One number of the summary."""

    value: str
    label: str
    tone: Tone = "plain"


class Figures(NamedTuple):
    """The summary."""

    figures: tuple[Figure, ...]


class Drawing(NamedTuple):
    """A picture where pictures can be, and what it says in words."""

    svg: str
    """Made by us, with every text in it made harmless already."""
    instead: tuple[Block, ...]


class Pictures(NamedTuple):
    """Pictures, where pictures can be, each under its name."""

    pictures: tuple[Picture, ...]


class Section(NamedTuple):
    """A part of the page; one that is folded is opened by who wants it."""

    words: Words
    blocks: tuple[Block, ...]
    is_folded: bool | None = None
    """None: it cannot be folded."""


Block = Heading | Paragraph | Points | Table | Listing | Figures | Drawing | Pictures | Section


class Document(NamedTuple):
    """A whole page."""

    title: str
    above: Words
    """A line over the title: where it comes from."""
    below: Words
    """A line under it: how it stands."""
    blocks: tuple[Block, ...]
    end: Words


_JOINERS: Final = "\u200c\u200d"


def visible(text: str, *, lines: bool = False) -> str:
    """Make what hides or turns text around visible: controls, overrides, bytes that are no text."""
    kept = "\n\t" if lines else ""
    return "".join(char if _is_seen(char) or char in kept else _shown(char) for char in text)


def one_line(text: str) -> str:
    """Put a text on one line, visibly."""
    return visible(" ".join(text.split()))


def _is_seen(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _shown(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
