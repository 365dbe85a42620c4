"""Building blocks of a page, independent of its output format.

Rule: a text here is always plain text; each output format escapes it, in one place.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from asbuilt.proof.pictures import Picture

Tone = Literal["proven", "failed", "open", "plain"]
"""`proven` is shown in green, and only for evidence that asbuilt holds."""


class Code(NamedTuple):
    """A command, a path or a hash."""

    text: str


class Said(NamedTuple):
    """A quotation of a person or an agent; it proves nothing."""

    by: str
    text: str


class Mark(NamedTuple):
    """One word that states an outcome."""

    word: str
    tone: Tone


class Link(NamedTuple):
    """A link to another page of the board; formats without links show only the text."""

    text: str
    href: str
    """A path of the board, made by asbuilt."""


Inline = str | Code | Said | Mark | Link
Words = tuple[Inline, ...]


class Heading(NamedTuple):
    """A heading inside a section."""

    words: Words


class Paragraph(NamedTuple):
    """A paragraph."""

    words: Words


class Point(NamedTuple):
    """One point of a list, with subordinate lines."""

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
    """Preformatted lines."""

    text: str


class Patch(NamedTuple):
    """A difference in the format of git, with added and removed lines marked."""

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
    """An SVG picture, and blocks for formats without pictures."""

    svg: str
    """Made by asbuilt, with every text in it already escaped."""
    instead: tuple[Block, ...]


class Pictures(NamedTuple):
    """Pictures with their names; formats without pictures show only the names."""

    pictures: tuple[Picture, ...]


MAX_NOTE: Final = 2_000
"""Characters of the note of a form."""


class Form(NamedTuple):
    """Buttons that send an answer to the board; formats without forms leave it out."""

    action: str
    choices: tuple[tuple[str, str], ...]
    """The value and the label of each button; the first is the main one."""
    note: str = ""
    """Label of a text field; empty: there is none."""
    options: tuple[tuple[str, str], ...] = ()
    """Value and label of options, of which one is chosen."""


class Beside(NamedTuple):
    """Two columns on a wide screen, one below the other on a narrow one."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]


class Section(NamedTuple):
    """A part of the page."""

    words: Words
    blocks: tuple[Block, ...]
    is_folded: bool | None = None
    """Whether it starts folded; None: it cannot be folded."""


Block = (
    Heading | Paragraph | Points | Table | Listing | Patch | Figures | Drawing | Pictures | Form | Beside
    | Section
)  # fmt: skip


class Document(NamedTuple):
    """A whole page."""

    title: str
    above: Words
    """The line above the title: where the page comes from."""
    below: Words
    """The line below the title: the state of the run."""
    blocks: tuple[Block, ...]
    end: Words


_BREAKS: Final = {ord("\n"): None, ord("\t"): None}
_JOINERS: Final = "\u200c\u200d"


def visible(text: str, *, lines: bool = False) -> str:
    """Escape characters that hide or reorder text: controls, overrides, undecodable bytes."""
    kept = _JOINERS + ("\n\t" if lines else "")
    if (text.translate(_BREAKS) if lines else text).isprintable():
        return text
    hidden = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return "".join(
        _shown(char) if unicodedata.category(char) in hidden and char not in kept else char for char in text
    )


def one_line(text: str) -> str:
    """Put a text on one line, with hidden characters escaped."""
    return visible(" ".join(text.split()))


def _shown(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
