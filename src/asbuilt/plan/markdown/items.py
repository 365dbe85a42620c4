"""Marks in a list item's first line: the place of its box, a commit hash, `<- CURRENT`, comments.

`blocks.py` says what counts as a box.

Rule: no pattern here may start at every character of a run. A line can be as long as the file, and the search
would take quadratic time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from asbuilt.plan.markdown.blocks import Block, Item
from asbuilt.plan.markdown.source import Source, Span
from asbuilt.plan.model import Box

CURRENT: Final = re.compile(r"(?:<-|←)[ \t]*CURRENT\b")
_HASH: Final = re.compile(r"\(`?([0-9a-f]{7,40})`?\)")


def locate_boxes(source: Source, blocks: Iterable[Block]) -> dict[int, Box]:
    """Locate every box by its 0-based line, with the place after it for a commit hash."""
    found: dict[int, Box] = {}
    for block in blocks:
        if isinstance(block, Item) and block.box is not None:
            start = source.starts[block.line]
            text = _without_current(source.lines[block.line])
            tail = len(text) if (at := _hash_at(text)) is None else len(text[:at].rstrip())
            found[block.line] = Box(
                span=Span(start + block.column + 1, start + block.column + 2),
                mark=block.box,
                tail=Span(start + tail, start + len(text)),
            )
    return found


def hash_tail(text: str) -> str | None:
    """Return the commit hash in parentheses at the end of an item's first line."""
    first = _without_current(text.split("\n", 1)[0])
    at = _hash_at(first)
    return None if at is None else first[at:].strip("(`)")


def item_text(text: str) -> str:
    """Return an item's text without marks: hash, `<- CURRENT`, comments."""
    lines = text.split("\n")
    lines[0] = _without_current(lines[0])
    if (at := _hash_at(lines[0])) is not None:
        lines[0] = lines[0][:at]
    return without_comments(" ".join(line.strip() for line in lines)).strip()


def without_comments(text: str, *, blank: bool = False) -> str:
    """Remove HTML comments and the space before them; `blank` replaces them with spaces instead."""
    at = text.find("<!--")
    if at < 0:
        return text
    parts: list[str] = []
    kept = 0
    while at >= 0:
        close = text.find("-->", at + 4)
        if close < 0:
            break
        before = text[kept:at]
        parts.append(before if blank else before.rstrip())
        kept = close + 3
        if blank:
            parts.append(" " * (kept - at))
        at = text.find("<!--", kept)
    return "".join(parts) + text[kept:]


def _without_current(line: str) -> str:
    current = CURRENT.search(line) if "CURRENT" in line else None
    return (line if current is None else line[: current.start()]).rstrip()


def _hash_at(text: str) -> int | None:
    """Return the offset of the commit hash in parentheses that ends a text."""
    if not text.endswith(")"):
        return None
    at = text.rfind("(")
    return at if at >= 0 and _HASH.fullmatch(text, at) else None
