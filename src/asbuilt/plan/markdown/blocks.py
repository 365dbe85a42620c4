"""Markdown structure as a flat list of blocks with their lines.

The parser separates code from text. Blocks are not interpreted here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token


class Heading(NamedTuple):
    """A heading of the document itself; headings in quotes and lists are left out."""

    line: int
    after: int
    level: int
    text: str


class Item(NamedTuple):
    """A list item and its first paragraph."""

    line: int
    after: int
    depth: int
    text: str
    """Its first paragraph without the box; lines joined by newlines."""
    box: str | None
    """The character between the brackets, or None when there is no box."""
    column: int
    """Column where that paragraph, box included, starts in its line; -1 if unknown."""
    number: str
    """The ordinal of an ordered item, else empty."""


class Paragraph(NamedTuple):
    """A paragraph that does not open a list item."""

    line: int
    after: int
    text: str
    nested: bool


class Fence(NamedTuple):
    """A fenced or indented block of code."""

    line: int
    after: int
    info: str
    content: str
    content_line: int


class Cell(NamedTuple):
    """One cell of a table row: its text, and its columns in the source line between the pipes."""

    text: str
    start: int
    end: int


class Row(NamedTuple):
    """A body row of a table: the parser's cells, and the number of quotes around it."""

    line: int
    texts: tuple[str, ...]
    quotes: int


class Table(NamedTuple):
    """A pipe table with its header names as written."""

    line: int
    after: int
    header: tuple[str, ...]
    rows: tuple[Row, ...]


Block = Heading | Item | Paragraph | Fence | Table

_BOX: Final = re.compile(r"\[([ xX~-])\](?:\s|$)")
# Only the block rules run: inline marks carry no structure and take half of a full parse.
_PARSER: Final = MarkdownIt("commonmark").enable("table")


def parse(lines: Sequence[str], first: int = 0) -> list[Block]:
    """Parse `lines` from line `first` on; line numbers are those of the whole document."""
    tokens: list[Token] = []
    _PARSER.block.parse(_shown("\n".join(lines[first:])), _PARSER, {}, tokens)
    return _Walk(lines, first).blocks_of(tokens)


def _shown(text: str) -> str:
    """Replace NULs as the parser expects; offsets stay the same."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text


class _Walk:
    def __init__(self, lines: Sequence[str], first: int) -> None:
        self.lines = lines
        self.first = first
        self.blocks: list[Block] = []
        self.lists = 0
        self.quotes = 0
        self.item: Item | None = None
        self.table: Token | None = None
        self.header: list[str] = []
        self.rows: list[Row] = []
        self.cells: list[str] = []
        self.row_line = 0

    def blocks_of(self, tokens: Sequence[Token]) -> list[Block]:
        previous = None
        for token in tokens:
            kind = token.type
            if self.item is not None and kind not in {"paragraph_open", "inline"}:
                self.blocks.append(self.item)
                self.item = None
            if kind == "inline":
                if previous is not None:
                    self._inline(token, previous)
            elif kind == "list_item_open":
                self.item = Item(*self._lines(token), self.lists - 1, "", None, -1, token.info)
            elif kind in {"bullet_list_open", "ordered_list_open"}:
                self.lists += 1
            elif kind in {"bullet_list_close", "ordered_list_close"}:
                self.lists -= 1
            elif kind == "blockquote_open":
                self.quotes += 1
            elif kind == "blockquote_close":
                self.quotes -= 1
            elif kind in {"fence", "code_block"}:
                line, after = self._lines(token)
                inside = line + 1 if kind == "fence" else line
                self.blocks.append(Fence(line, after, token.info.strip(), token.content, inside))
            elif kind.startswith("t"):
                self._table(token)
            previous = token
        return self.blocks

    def _lines(self, token: Token) -> tuple[int, int]:
        start, after = token.map or (0, 0)
        return start + self.first, after + self.first

    def _inline(self, token: Token, opener: Token) -> None:
        kind = opener.type
        if kind in {"th_open", "td_open"}:
            self.cells.append(token.content)
            return
        line, after = self._lines(token)
        if kind == "heading_open":
            if opener.level == 0:
                start, end = self._lines(opener)
                self.blocks.append(Heading(start, end, int(opener.tag[1:]), token.content))
            return
        item, self.item = self.item, None
        if item is None:
            self.blocks.append(Paragraph(line, after, token.content, opener.level > 0))
        elif item.line != line:
            self.blocks.append(item)
            self.blocks.append(Paragraph(line, after, token.content, nested=True))
        else:
            text = token.content
            column = column_of(self.lines[line], text.split("\n", 1)[0])
            found = _BOX.match(text)
            box = found.group(1) if found and column >= 0 else None
            if box is not None:
                text = text[3:].strip()
            self.blocks.append(Item(line, item.after, item.depth, text, box, column, item.number))

    def _table(self, token: Token) -> None:
        kind = token.type
        if kind == "table_open":
            self.table, self.header, self.rows = token, [], []
        elif kind == "tr_open":
            self.row_line, _ = self._lines(token)
            self.cells = []
        elif kind == "tr_close":
            if self.header:
                self.rows.append(Row(self.row_line, tuple(self.cells), self.quotes))
            else:
                self.header = self.cells
        elif kind == "table_close" and self.table is not None:
            line, after = self._lines(self.table)
            self.blocks.append(Table(line, after, tuple(self.header), tuple(self.rows)))


def column_of(line: str, tail: str) -> int:
    """Return the column where a paragraph's line starts in its source line, or -1.

    The parser keeps the stripped tail of the source line.
    """
    source, tail = _shown(line).rstrip(), tail.rstrip()
    return len(source) - len(tail) if source.endswith(tail) else -1


def cells_of(row: Row, line: str) -> tuple[Cell, ...]:
    """Locate a row's cells in its line; if the parser disagrees, they have its texts and no position."""
    cells = split_row(line, row.quotes)
    # The parser pads and cuts rows to the header, so only cells that both have are compared.
    texts = [text.strip() for text in row.texts]
    agreed = all(cell.text == text for cell, text in zip(cells, texts, strict=False))
    return tuple(cells) if agreed else tuple(Cell(text, -1, -1) for text in texts)


def split_row(line: str, quotes: int = 0) -> list[Cell]:
    """Split one table row as GFM does: a backslash right before a pipe escapes it."""
    start = 0
    for _ in range(quotes):
        start = line.find(">", start) + 1
    end = len(line.rstrip())
    while start < end and line[start].isspace():
        start += 1
    cells: list[Cell] = []
    begin = start
    position = line.find("|", start, end)
    while position >= 0:
        if position == start or line[position - 1] != "\\":
            cells.append(_cell(line, begin, position))
            begin = position + 1
        position = line.find("|", position + 1, end)
    cells.append(_cell(line, begin, end))
    if cells and cells[0].start == cells[0].end == start:
        del cells[0]
    if cells and cells[-1].start == cells[-1].end == end:
        del cells[-1]
    return cells


def _cell(line: str, start: int, end: int) -> Cell:
    text = _shown(line[start:end]).replace("\\|", "|").strip()
    return Cell(text, start, end)
