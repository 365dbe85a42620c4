"""Write a mark into each kind of place: row, heading, status line, box, front matter, metadata.

No function here decides what to mark. Each keeps the style of the existing text.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from asbuilt.errors import EditRefused
from asbuilt.plan.markdown.frontmatter import scalar
from asbuilt.plan.markdown.source import Span, Splicer
from asbuilt.plan.markdown.statuses import glyph_of, read_commit, read_status, stated_commit, write_status
from asbuilt.plan.model import Box, Metadatum, Phase, Plan, Spot, Status, TrackerRow

TICKABLE: Final = frozenset({Status.DONE, Status.PENDING})
"""Statuses that a box can express."""


class Mark(NamedTuple):
    """Status, commit and note to write for a phase."""

    status: Status
    commit: str | None
    note: str | None

    @property
    def tail(self) -> str:
        """The text after the status in a status line."""
        return (f" ({self.commit})" if self.commit else "") + (f": {self.note}" if self.note else "")


def mark_row(plan: Plan, splicer: Splicer, row: TrackerRow, mark: Mark) -> tuple[str, ...]:
    """Mark a tracker row; return the marks that it has no column for."""
    lacks_commit = mark.commit and row.has_commit and row.commit is None
    lacks_note = mark.note and row.has_note and row.note is None
    if row.status is None or lacks_commit or lacks_note:
        raise EditRefused(
            f"line {row.line}: the tracker row has fewer cells than its header",
            why="The position of the missing cell is ambiguous.",
            next_step="`asbuilt plan open PLAN` to give the row a cell for every column.",
        )
    beside = f" ({mark.commit})" if mark.commit and not row.has_commit else ""
    if beside or read_status(row.status_text) is not mark.status:
        _set_cell(plan, splicer, row.status, write_status(mark.status, row.status_text) + beside)
    if row.commit is not None:
        if mark.commit:
            _set_cell(plan, splicer, row.commit, f"`{mark.commit}`")
        elif mark.status is not Status.DONE and read_commit(
            plan.source.text[row.commit.start : row.commit.end]
        ):
            _set_cell(plan, splicer, row.commit, "")
    if mark.note and row.note is not None:
        _set_cell(plan, splicer, row.note, mark.note)
    return ("the note: the tracker has no column for notes",) if mark.note and not row.has_note else ()


def _set_cell(plan: Plan, splicer: Splicer, cell: Span, value: str) -> None:
    """Replace a cell's text and keep the space around it."""
    text = plan.source.text
    inner = text[cell.start : cell.end]
    value = value.replace("|", "\\|")
    bounded = text[cell.start - 1 : cell.start] == "|" == text[cell.end : cell.end + 1]
    if not value and not bounded:
        # Without pipes on both sides an empty cell is no cell, and a hyphen would start a list.
        value = "–"
    if not inner.strip():
        splicer.replace(cell, f" {value} " if value else inner)
        return
    start = cell.start + len(inner) - len(inner.lstrip())
    end = start + len(inner.strip())
    # A backslash right before the pipe would escape it.
    splicer.replace(Span(start, end), value + (" " if value.endswith("\\") and end == cell.end else ""))


def mark_spot(plan: Plan, splicer: Splicer, phase: Phase, spot: Spot, mark: Mark) -> None:
    """Mark a heading or a status line."""
    if spot.kind == "line":
        _set_line(plan, splicer, spot, mark)
        return
    if read_status(spot.text) is not mark.status:
        word = glyph_of(mark.status) if spot.kind == "glyph" else write_status(mark.status, spot.text)
        splicer.replace(spot.span, word)
    # A heading has no room for a hash. It goes into a status line, which must agree with the heading.
    if phase.line_spot is not None:
        _set_line(plan, splicer, phase.line_spot, mark)
    elif mark.tail and phase.heading_after is not None:
        insert_status(plan, splicer, phase.heading_after, mark)


def _set_line(plan: Plan, splicer: Splicer, spot: Spot, mark: Mark) -> None:
    if read_status(spot.text) is mark.status:
        if not mark.tail:
            return
        if mark.commit is None:
            mark = mark._replace(commit=stated_commit(spot.text))
    before = plan.source.text[spot.span.start - 1 : spot.span.start]
    space = "" if before.isspace() else " "
    splicer.replace(spot.span, space + write_status(mark.status, spot.text) + mark.tail)


def insert_status(plan: Plan, splicer: Splicer, line: int, mark: Mark) -> None:
    """Insert a status line before `line`, and a blank line after it if text follows."""
    source = plan.source
    at = source.starts[min(line, len(source.lines))]
    opened = at > 0 and source.text[at - 1] not in "\r\n"
    follows = line < len(source.lines) and source.lines[line].strip()
    lead = source.line_end if opened else ""
    apart = source.line_end if follows else ""
    text = f"**Status:** {write_status(mark.status, '')}{mark.tail}"
    splicer.replace(Span(at, at), lead + text + source.line_end + apart)


def mark_boxes(splicer: Splicer, phase: Phase, mark: Mark) -> tuple[str, ...]:
    """Tick or untick all boxes of a phase; return the marks that a box cannot express."""
    if mark.status not in TICKABLE:
        raise EditRefused(
            f"phase {phase.id} has only boxes, and a box can only be done or open",
            why=f"A checkbox cannot express {mark.status.value.replace('_', ' ')}.",
            next_step=f"`asbuilt plan mark PLAN {phase.id} done`, or pending.",
        )
    done = mark.status is Status.DONE
    boxes = phase.boxes
    all_ticked = all(box.is_ticked for box in boxes)
    for box in boxes:
        # A hash names the commit that ticked a box. If all boxes were ticked before, the last one gets it.
        mine = box is boxes[-1] if all_ticked else not box.is_ticked
        tick(splicer, box, done=done, commit=mark.commit if mine else None)
    left_out = ["the note: a box has no place for one"] if mark.note else []
    if mark.commit and not done:
        left_out.append("the commit: only a ticked box has one")
    return tuple(left_out)


def tick(splicer: Splicer, box: Box, *, done: bool, commit: str | None) -> None:
    """Tick or untick one box. Unticking removes its hash; ticking without a commit keeps it."""
    if done != box.is_ticked or box.mark not in " xX":
        splicer.replace(box.span, "x" if done else " ")
    if not done:
        splicer.replace(box.tail, "")
    elif commit:
        splicer.replace(box.tail, f" ({commit})")


def set_keys(plan: Plan, splicer: Splicer, values: dict[str, str]) -> None:
    """Set front matter keys in place; add missing keys before the closing rule, or in new front matter."""
    source, front = plan.source, plan.front
    if not values:
        return
    if not front.editable:
        problem = front.problems[0]
        raise EditRefused(
            f"line {problem.line}: {problem.message}",
            why="Its keys cannot be located with certainty.",
            next_step=problem.advice,
        )
    missing = []
    for key, value in values.items():
        entry = front.entry(key)
        line = f"{front.indent}{key}: {scalar(value)}{source.line_end}"
        if entry is None:
            missing.append(line)
        elif entry.value is None or entry.after - entry.first > 1 or len(entry.values) != 1:
            splicer.replace(source.span(entry.first, entry.after), line)
        else:
            before = source.text[entry.value.start - 1 : entry.value.start]
            splicer.replace(entry.value, ("" if before.isspace() else " ") + scalar(value))
    if missing and front.present:
        closing = source.starts[front.after - 1]
        splicer.replace(Span(closing, closing), "".join(missing))
    elif missing:
        rule = f"---{source.line_end}"
        splicer.replace(Span(0, 0), rule + "".join(missing) + rule + source.line_end)


def insert_metadata(plan: Plan, splicer: Splicer, datum: Metadatum, values: dict[str, str]) -> None:
    """Add metadata lines after an existing one, with its indent and bullet."""
    source = plan.source
    lead = source.lines[datum.line][: source.lines[datum.line].find("**")]
    at = source.starts[datum.after - 1] + len(source.lines[datum.after - 1])
    lines = "".join(f"{source.line_end}{lead}**{key}**: {value}" for key, value in values.items())
    splicer.replace(Span(at, at), lines)


def set_metadatum(plan: Plan, splicer: Splicer, datum: Metadatum, value: str) -> None:
    """Replace the value of a metadata line."""
    end = len(plan.source.lines[datum.line].rstrip())
    span = plan.source.at(datum.line, end - len(datum.value), end)
    splicer.replace(span, value if datum.value else f" {value}")
