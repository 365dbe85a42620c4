"""A plan's progress tracker: a table with a phase and a status column."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.plan.markdown.blocks import Block, Cell, Table, cells_of
from asbuilt.plan.markdown.phase_headings import NUMBER_TOKEN, clean_title
from asbuilt.plan.model import TrackerRow

if TYPE_CHECKING:
    from asbuilt.plan.markdown.source import Source, Span

    Cells = Sequence[Cell]

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
