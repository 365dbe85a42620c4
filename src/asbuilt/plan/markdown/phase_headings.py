"""Phases of a document by its headings and by its progress tracker, a table with a phase and a status column.

Headings in code, comments, quotes and lists are not phases.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.plan.markdown.blocks import Table, cells_of
from asbuilt.plan.model import Spot, Status, TrackerRow
from asbuilt.plan.names import slugify
from asbuilt.plan.statuses import GLYPH, read_status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.plan.markdown.blocks import Block, Cell, Heading
    from asbuilt.plan.markdown.source import Source, Span

    Cells = Sequence[Cell]

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


_PHASE: Final = ("phase", "phases", "phase name", "task", "step", "stage", "milestone", "item")
_NUMBERS: Final = ("#", "no", "no.", "id", "nr", "number")
_STATUS: Final = ("status", "state")
_COMMIT: Final = ("commit", "commits", "hash", "sha")
_NOTE: Final = ("notes", "note", "comment", "comments", "remarks")
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_KIND: Final = re.compile(r"(?i)(?:phase|task|step|stage|milestone)\s+")
_LETTER: Final = re.compile(r"([A-Za-z])(?=\s*(?:[:.)—–-]\s|$))")


class TrackedPhase(NamedTuple):
    """A parsed row of the tracker."""

    id: str | None
    title: str
    row: TrackerRow
    commit_text: str


class Tracker(NamedTuple):
    """The table with the progress of the phases."""

    phases: tuple[TrackedPhase, ...]
    wants: tuple[tuple[int, str], ...]
    """Each row's 0-based line, and its cells that carry intent: all but status, commit and notes."""


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


def find_tracker(
    source: Source, blocks: Iterable[Block], inside: Sequence[tuple[int, int]]
) -> Tracker | None:
    """Find the tracker. A table inside a phase's section tracks that phase's own work and does not count.

    `inside` holds the line ranges of the sections, in order and disjoint.
    """
    firsts = [first for first, _ in inside]
    for block in blocks:
        if isinstance(block, Table):
            section = bisect_left(firsts, block.line) - 1
            if section < 0 or block.line >= inside[section][1]:
                tracker = _read_table(source, block)
                if tracker is not None:
                    return tracker
    return None


def _read_table(source: Source, table: Table) -> Tracker | None:
    names = [name.strip(" *_`").casefold() for name in table.header]
    status = _column(names, _STATUS)
    phase = _column(names, _PHASE)
    number = _column(names, _NUMBERS)
    if status is None or (phase is None and number is None) or not table.rows:
        return None
    commit, note = _column(names, _COMMIT), _column(names, _NOTE)
    keep = [at for at in range(len(names)) if at not in {status, commit, note}]
    phases: list[TrackedPhase] = []
    wants: list[tuple[int, str]] = []
    for row in table.rows:
        cells = cells_of(row, source.lines[row.line])
        wants.append((row.line, "|".join(_text(cells, at) for at in keep)))
        title_text = _text(cells, phase)
        phase_id, _ = _split(_text(cells, number) or title_text)
        title = _split(title_text)[1] if title_text else ""
        if not title and phase_id is None:
            continue
        tracked = TrackerRow(
            line=row.line + 1,
            status=_span(source, row.line, cells, status),
            commit=_span(source, row.line, cells, commit),
            note=_span(source, row.line, cells, note),
            has_commit=commit is not None,
            has_note=note is not None,
            status_text=_text(cells, status),
        )
        phases.append(TrackedPhase(phase_id, title, tracked, _text(cells, commit)))
    return Tracker(tuple(phases), tuple(wants))


def _column(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _text(cells: Cells, column: int | None) -> str:
    return cells[column].text if column is not None and column < len(cells) else ""


def _span(source: Source, line: int, cells: Cells, column: int | None) -> Span | None:
    if column is None or column >= len(cells) or cells[column].start < 0:
        return None
    return source.at(line, cells[column].start, cells[column].end)


def _split(text: str) -> tuple[str | None, str]:
    """Split `1 — Extract request helper` or `[Phase 2: Core](#core)` into id and title."""
    title = _KIND.sub("", _LINK.sub(r"\1", text).strip(" *_`"), count=1)
    found = NUMBER_TOKEN.match(title) or _LETTER.match(title)
    if found is None:
        return None, clean_title(title)
    return found.group(1).lower(), clean_title(re.sub(r"^[\s:.)—–-]+", "", title[found.end() :]))
