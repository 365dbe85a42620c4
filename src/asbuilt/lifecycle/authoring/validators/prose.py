"""Visible text of an output, in passages. Code blocks, comments and invisible characters are left out.

Rule: required text must appear literally; forbidden text is also found behind lookalike letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from asbuilt.lifecycle.authoring.validators.text_comparison import normal
from asbuilt.plan.markdown.blocks import Block, Fence, Heading, Item, Paragraph, Table, parse

_CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")
_NUMBERED: Final = re.compile(r"[*_]{0,2}\d{1,3}(?:[.):][*_]{0,2}|[*_]{1,2}[.):])\s+(?=\S)")
_BOLD: Final = re.compile(r"(\*\*|__)(?P<name>[^*_\n]+?)\1\s*:?|(\*\*|__)(?P<other>[^*_\n]+?):\3")
# Invisible letters that Unicode does not classify as format characters.
_BLANK: Final = dict.fromkeys(map(ord, "\u115f\u1160\u3164\uffa0\u2800\u034f\u180e"), None)
_LOOKALIKE: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсухһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχɡɩʟɴʀꓑꓳꓢꓖ",
    "ABESIJKMHOPCTXYaesijopcyxhdqwlABEZHIKMNOPTYXaeiKvopTuxgiLNRPOSG",
)


class Passage(NamedTuple):
    """A unit of an output: a heading, an item, a line of a paragraph, or a table row."""

    kind: Literal["heading", "item", "line", "row"]
    text: str
    """The source text with inline code, without comments."""
    numbered: bool = False
    level: int = 0
    """A heading's level; an item's depth; for a line, 1 inside an item or a quote."""

    @property
    def prose(self) -> str:
        """Return the text without inline code."""
        return _CODE.sub(" ", self.text)

    @property
    def named(self) -> str:
        """Return the text without commands. Inline code without whitespace is a name and stays."""
        return _CODE.sub(lambda code: " " if re.search(r"\s", code[2]) else code[0], self.text)


def seen(text: str) -> str:
    """Return the visible text: without invisible characters, and with compatibility forms unified (NFKC)."""
    shaped = "".join(char for char in text if unicodedata.category(char) != "Cf").translate(_BLANK)
    return unicodedata.normalize("NFKC", shaped)


def unmasked(text: str) -> str:
    """Return the visible text with lookalike letters replaced by Latin ones."""
    return seen(text).translate(_LOOKALIKE)


def outside_code(text: str) -> str:
    """Blank out code and comments; every other character keeps its position."""
    lines = text.split("\n")
    for block in parse(lines):
        if isinstance(block, Fence):
            for at in range(block.line, min(block.after, len(lines))):
                lines[at] = " " * len(lines[at])
    blanked = "\n".join(lines)
    for pattern in (_CODE, _COMMENT):
        blanked = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), blanked)
    return blanked


def blocks_seen(text: str) -> list[Block]:
    """Parse the visible text of an output into blocks."""
    return parse(seen(text).split("\n"))


def passages(blocks: Iterable[Block], given: frozenset[str] = frozenset()) -> tuple[Passage, ...]:
    """Return the passages of some blocks, in order, without sentences that are in `given`."""
    found = (passage for block in blocks for passage in _of(block))
    own = (passage._replace(text=_own(passage.text, given)) for passage in found)
    return tuple(passage for passage in own if passage.text.strip())


def given_in(*texts: str) -> frozenset[str]:
    """Return the sentences of the prompt, so that an agent's copies of them do not count."""
    candidates = (
        sentence for text in texts for line in text.split("\n") for sentence in (line, *sentences(line))
    )
    return frozenset(known for sentence in candidates if (known := normal(seen(sentence))).count(" ") >= 3)


def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())


def numbered_items(found: Iterable[Passage]) -> list[str]:
    """Return the numbered items, each with the passages below it."""
    items: list[str] = []
    opener: Passage | None = None
    for passage in found:
        if passage.numbered:
            items.append(passage.text)
            opener = passage
        elif opener is not None and _is_under(opener, passage):
            items[-1] += f"\n{passage.text}"
        else:
            opener = None
    return items


def _is_under(opener: Passage, passage: Passage) -> bool:
    if opener.kind == "heading":
        return passage.kind != "heading" or passage.level > opener.level
    return passage.kind in ("item", "line") and passage.level > (
        opener.level if passage.kind == "item" else 0
    )


def bold_names(found: Iterable[Passage]) -> Iterator[str]:
    """Yield the lines that are only a bold name: headings to a reader, but not to a parser."""
    for passage in found:
        bold = _BOLD.fullmatch(passage.text.strip()) if passage.kind == "line" else None
        if bold is not None:
            yield bold["name"] or bold["other"]


def _of(block: Block) -> Iterator[Passage]:
    if isinstance(block, Heading):
        text = _COMMENT.sub(" ", block.text)
        number = _NUMBERED.match(text)
        yield Passage("heading", text[number.end() if number else 0 :], bool(number), block.level)
    elif isinstance(block, Item):
        yield Passage("item", _COMMENT.sub(" ", block.text), bool(block.number), block.depth)
    elif isinstance(block, Paragraph):
        for line in _COMMENT.sub(" ", block.text).split("\n"):
            number = _NUMBERED.match(line)
            yield Passage("line", line[number.end() if number else 0 :], bool(number), int(block.nested))
    elif isinstance(block, Table):
        for row in block.rows:
            cells = (f"{name}: {text}" for name, text in zip(block.header, row.texts, strict=False) if text)
            yield Passage("row", _COMMENT.sub(" ", "; ".join(cells)))


def _own(text: str, given: frozenset[str]) -> str:
    if not given:
        return text
    if normal(text) in given:
        return ""
    parts = sentences(text)
    own = [part for part in parts if normal(part) not in given]
    return text if len(own) == len(parts) else " ".join(own)
