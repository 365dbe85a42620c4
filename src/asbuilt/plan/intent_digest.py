"""Intent of a plan: the digest of its text with all marks of progress blanked.

Rule: a mark never changes the intent, so no mark voids an approval.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.plan.markdown.items import CURRENT
from asbuilt.plan.markdown.source import Source, Span, digest, encode
from asbuilt.plan.model import Box, Metadatum, Spot

if TYPE_CHECKING:
    from asbuilt.plan.markdown.frontmatter import FrontMatter
    from asbuilt.plan.markdown.phases import Found

UNDECIDED: Final = "TBD"
"""Placeholder that `plan check --fix` writes; such a value is not part of the intent."""

_MARK_KEYS: Final = frozenset({"status", "completed"})
_AUDIT: Final = re.compile(r"<!-- (?:Auto-corrected|Waived) [^\r\n<>]*-->")
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)+")


class Blank(NamedTuple):
    """A span of text that carries progress, and its replacement."""

    start: int
    end: int
    instead: str


class Blanks:
    """All marks of a document, in order."""

    __slots__ = ("_blanks", "_starts")

    def __init__(self, blanks: Iterable[Blank]) -> None:
        self._blanks: list[Blank] = []
        for blank in sorted(blanks):
            if self._blanks and blank.start < self._blanks[-1].end:
                if blank.end > self._blanks[-1].end:
                    self._blanks[-1] = self._blanks[-1]._replace(end=blank.end)
                continue
            self._blanks.append(blank)
        self._starts = [blank.start for blank in self._blanks]

    def wanted(self, text: str, span: Span) -> str:
        """Return the text of a span with marks blanked, line ends unified and blank edge lines removed."""
        parts: list[str] = []
        at = span.start
        first, after = bisect_left(self._starts, span.start), bisect_left(self._starts, span.end)
        for blank in islice(self._blanks, first, after):
            parts += (text[at : blank.start], blank.instead)
            at = blank.end
        parts.append(text[at : span.end])
        plain = "".join(parts).rstrip()
        if "\r" in plain:
            plain = plain.replace("\r\n", "\n").replace("\r", "\n")
        edge = _BLANK_LINES.match(plain)
        return plain if edge is None else plain[edge.end() :]


def intent_of(wanted: str) -> str:
    """Return the digest of a text without marks. Equal digests ask for the same work."""
    return digest(encode(wanted))


def blanks_of(
    source: Source, front: FrontMatter, boxes: Iterable[Box], found: Found, spots: Iterable[Spot]
) -> Blanks:
    """Collect the marks: front matter keys, boxes, hashes, tracker cells, status texts, audit comments."""
    blanks = list(_front(source, front))
    for line, wanted in found.tracker.wants if found.tracker else ():
        start = source.starts[line]
        blanks.append(Blank(start, start + len(source.lines[line]), wanted))
    for box in boxes:
        blanks.append(Blank(box.span.start, box.span.end, " "))
        if box.tail.end > box.tail.start:
            blanks.append(Blank(box.tail.start, box.tail.end, ""))
    blanks += (Blank(spot.span.start, spot.span.end, "") for spot in spots)
    blanks += _head_lines(source, found)
    blanks += _metadata(source, found.metadata)
    if "<!-- Auto-corrected " in source.text or "<!-- Waived " in source.text:
        blanks += _after_space(source.text, _AUDIT)
    if "CURRENT" in source.text:
        blanks += _after_space(source.text, CURRENT)
    return Blanks(blanks)


def _after_space(text: str, pattern: re.Pattern[str]) -> Iterator[Blank]:
    """Blank every match, together with the space before it."""
    for mark in pattern.finditer(text):
        start = mark.start()
        while start > 0 and text[start - 1] in " \t":
            start -= 1
        yield Blank(start, mark.end(), "")


def _front(source: Source, front: FrontMatter) -> Iterator[Blank]:
    if not front.present or not front.editable:
        return
    gone: set[int] = set()
    for entry in front.entries:
        if entry.key in _MARK_KEYS or entry.values == (UNDECIDED,):
            gone.update(range(entry.first, entry.after))
            yield Blank(*source.span(entry.first, entry.after), "")
    if all(line in gone or not source.lines[line].strip() for line in range(1, front.after - 1)):
        yield Blank(*source.span(0, front.after), "")


def _head_lines(source: Source, found: Found) -> Iterator[Blank]:
    """Blank a status line right under a phase's heading, with the blank lines around it."""
    for draft in found.drafts:
        if draft.heading is None:
            continue
        under = draft.heading.after
        after = _skip_blank(source, under)
        # A status line as asbuilt writes it, at the margin.
        if after < len(source.lines) and source.lines[after].startswith(("**Status:**", "**Status**:")):
            after = _skip_blank(source, after + 1)
        if after > under:
            yield Blank(*source.span(under, after), "")


def _skip_blank(source: Source, line: int) -> int:
    while line < len(source.lines) and not source.lines[line].strip():
        line += 1
    return line


def _metadata(source: Source, metadata: Iterable[Metadatum]) -> Iterator[Blank]:
    for datum in metadata:
        if datum.key.casefold() in _MARK_KEYS or datum.value == UNDECIDED:
            yield Blank(*source.span(datum.line, datum.line + 1), "")
