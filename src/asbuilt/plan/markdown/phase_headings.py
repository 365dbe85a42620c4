"""Phases of a document by its headings.

Headings in code, comments, quotes and lists are not phases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.plan.markdown.statuses import GLYPH, read_status
from asbuilt.plan.model import Spot, Status
from asbuilt.plan.names import slugify

if TYPE_CHECKING:
    from asbuilt.plan.markdown.blocks import Heading
    from asbuilt.plan.markdown.source import Source, Span

_NUMBER: Final = r"\d+(?:\.\d+)*[A-Za-z]?"
NUMBER_TOKEN: Final = re.compile(rf"({_NUMBER})(?![\w-]|\.\d)")
_NAMED: Final = re.compile(
    rf"(?is)(phase|task|milestone|stage|step)\s+(?:({_NUMBER})(?!\w)|([A-Za-z])(?=\s*(?:[:.)—–\]-]|$)))\W*?"
    r"(?:\s*[:.)—–-]+\s*|\s+|$)(.*)"
)
_UNNUMBERED: Final = re.compile(r"(?is)phase\s*[:—–-]\s+(.+)")
_NUMBERED: Final = re.compile(rf"(?s)({_NUMBER})(?:[.)]|\s*[:—–-])\s+(.+)")
_BRACKET: Final = re.compile(r"\[([^\[\]]+)\](?!\()")
_KINDS: Final = ("phase", "task", "milestone", "stage", "step", "numbered")
_DECORATION: Final = " \t\n*_#~"


class PhaseHeading(NamedTuple):
    """A heading that opens a phase, and the lines that belong to it."""

    heading: Heading
    kind: str
    id: str
    title: str
    after: int
    """0-based line after its last line."""


def phase_headings(headings: Sequence[Heading], line_count: int) -> list[PhaseHeading]:
    """Find the phases among the headings: the first of `_KINDS` that occurs decides what a phase is."""
    read = [(at, named) for at, heading in enumerate(headings) if (named := _read(heading.text)) is not None]
    kind = next((kind for kind in _KINDS if any(named[0] == kind for _, named in read)), None)
    chosen = [(at, named) for at, named in read if named[0] == kind]
    if kind == "numbered":
        # `### 1.1 Detail` under `## 1. Setup` is a part of a phase.
        top = min(headings[at].level for at, _ in chosen)
        chosen = [(at, named) for at, named in chosen if headings[at].level == top]
    opens = {at for at, _ in chosen}
    found = []
    for at, (_, number, title) in chosen:
        heading = headings[at]
        after = next(
            (
                headings[later].line
                for later in range(at + 1, len(headings))
                if later in opens or headings[later].level <= heading.level
            ),
            line_count,
        )
        found.append(PhaseHeading(heading, kind or "", number, title, after))
    return found


def _read(text: str) -> tuple[str, str, str] | None:
    """Parse one heading into (kind, id, title), or None."""
    heading_text = re.sub(r"^[^\w\[]+", "", _without_status(text))
    named = _NAMED.match(heading_text)
    if named is not None:
        number = (named.group(2) or named.group(3)).lower()
        return named.group(1).lower(), number, clean_title(named.group(4)) or f"{named.group(1)} {number}"
    unnumbered = _UNNUMBERED.match(heading_text)
    if unnumbered is not None and (slug := slugify(unnumbered.group(1))):
        return "phase", slug, clean_title(unnumbered.group(1))
    numbered = _NUMBERED.match(heading_text)
    if numbered is not None and (title := clean_title(numbered.group(2))):
        return "numbered", numbered.group(1).lower(), title
    return None


def clean_title(text: str) -> str:
    """Strip status marks, emphasis and trailing emoji from a title."""
    title = " ".join(_without_status(text).split()).strip(_DECORATION)
    return re.sub(r"\s+[^\w\s()\[\]\"'`.!?%+*/&-]+$", "", title).strip(_DECORATION)


def _without_status(text: str) -> str:
    text = _BRACKET.sub(lambda found: "" if _is_status(found.group(1)) else found.group(), text)
    return GLYPH.sub("", text)


def _is_status(text: str) -> bool:
    return bool(text.strip()) and read_status(text) is not Status.UNKNOWN


def heading_spot(source: Source, heading: Heading) -> Spot | None:
    """Find the status in a heading itself: `[IN PROGRESS]`, or a single glyph."""
    if heading.line >= len(source.lines):
        return None
    line = source.lines[heading.line]
    for found in _BRACKET.finditer(line):
        if _is_status(found.group(1)):
            span = source.at(heading.line, found.start(), found.end())
            return Spot(kind="bracket", span=span, text=found.group())
    glyph = GLYPH.search(line)
    if glyph is None:
        return None
    return Spot(kind="glyph", span=source.at(heading.line, glyph.start(), glyph.end()), text=glyph.group())


def whole_lines(source: Source, first: int, after: int) -> tuple[Span, tuple[int, int]]:
    """Return the span of some whole lines, and their 1-based numbers."""
    return source.span(first, after), (first + 1, max(first + 1, min(after, len(source.lines))))
