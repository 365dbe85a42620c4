"""Find the phases of a document, by trying the plan formats in order."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from asbuilt.plan.markdown.blocks import Block, Heading, Item, Paragraph
from asbuilt.plan.markdown.items import item_text
from asbuilt.plan.markdown.phase_headings import clean_title, phase_headings, whole_lines
from asbuilt.plan.markdown.sections import TRANSLATIONS
from asbuilt.plan.markdown.source import Source, Span
from asbuilt.plan.markdown.tracker import TrackedPhase, Tracker, find_tracker
from asbuilt.plan.model import Format, Metadatum
from asbuilt.plan.names import slugify

MAX_PHASES: Final = 2_000
_NO_PHASE: Final = frozenset(
    {
        *("progress log", "log", "changelog", "history", "notes", "risks", "open questions", "references"),
        *("acceptance criteria", "success criteria", "definition of done", "done when", "verification"),
        *("decisions", "decisions made", "errors encountered", "out of scope", "non-scope"),
    }
)
_TASK_ID: Final = re.compile(r"(?:([A-Za-z]{1,3}\d{1,6})|(\d+(?:\.\d+)+[A-Za-z]?)|(\d+)[.):])(?=\s)")
_METADATA: Final = re.compile(r"(?s)\*\*([A-Za-z][\w &/-]*?)(?:\*\*\s*:|:\*\*)\s*(.*)")


class Draft(Struct):
    """A phase that was found and not yet read."""

    id: str
    title: str
    span: Span
    lines: tuple[int, int]
    blocks: Sequence[Block] = ()
    heading: Heading | None = None
    tracked: TrackedPhase | None = None


class Found(Struct):
    """The phases of a document, and the format in which it writes them."""

    format: Format
    drafts: list[Draft]
    tracker: Tracker | None = None
    metadata: list[Metadatum] = field(default_factory=list)
    loose: list[Block] = field(default_factory=list)
    """Blocks outside all phases."""
    dropped: int = 0
    """Number of phases beyond `MAX_PHASES`."""


_SEQUENCE: Final = re.compile(
    r"(?i)(?:(?<=^)|(?<=\n)|(?<=[.!?]\s))[ \t]*"
    r"(?:first(?:ly| of all)?|second(?:ly)?|third(?:ly)?|fourth|fifth|to begin with|to start|then|next"
    r"|after that|after this|afterwards?|subsequently|finally|last(?:ly)?|in the end|at the end)\b[\s,:]*"
)
_STEPS: Final = frozenset(
    {
        *("steps", "plan", "the plan", "tasks", "phases", "implementation", "implementation steps"),
        *("implementation plan", "approach", *TRANSLATIONS["Steps"]),
    }
)
_MAX_TITLE: Final = 60


def find_phases(source: Source, blocks: Sequence[Block]) -> Found:
    """Find phases by tracker and numbered sections, then by checklist, then by narrative."""
    headings = [block for block in blocks if isinstance(block, Heading)]
    starts = [block.line for block in blocks]
    drafts: list[Draft] = []
    sections = phase_headings(headings, len(source.lines))
    for section in sections:
        span, lines = whole_lines(source, section.heading.line, section.after)
        inside = blocks[bisect_left(starts, section.heading.line) + 1 : bisect_left(starts, section.after)]
        drafts.append(Draft(section.id, section.title, span, lines, inside, section.heading))
    reach = [(section.heading.line, section.after) for section in sections]
    tracker = find_tracker(source, blocks, reach)
    found = Found(Format.SECTIONS, drafts, tracker)
    if tracker is not None:
        found.format = Format.TRACKER
        _join(source, found.drafts, tracker)
    if not found.drafts:
        found.format, found.drafts = Format.CHECKLIST, _checklist(source, blocks, headings, starts)
    if not found.drafts:
        found.format, found.drafts = Format.NARRATIVE, narrative_phases(source, blocks)
    found.metadata = _metadata(blocks, drafts)
    if drafts and {"task", "status"} <= {datum.key.casefold() for datum in found.metadata}:
        found.format = Format.TASK
    if all(_natural_key(draft.id) for draft in found.drafts):
        found.drafts.sort(key=lambda draft: _natural_key(draft.id) or ((), ""))
    taken = {line for draft in found.drafts for line in range(draft.lines[0] - 1, draft.lines[1])}
    found.loose = [block for block in blocks if block.line not in taken]
    found.dropped = max(0, len(found.drafts) - MAX_PHASES)
    del found.drafts[MAX_PHASES:]
    return found


def _draft_of(source: Source, number: int, text: str, span: Span) -> Draft:
    first, last = source.line_of(span.start), source.line_of(max(span.start, span.end - 1))
    return Draft(str(number), title_of(text), span, (first + 1, last + 1))


def _join(source: Source, drafts: list[Draft], tracker: Tracker) -> None:
    """Assign tracker rows to sections; a row without a section becomes a phase."""
    by_id = {draft.id: draft for draft in reversed(drafts)}
    by_title = {slugify(draft.title): draft for draft in reversed(drafts)}
    for tracked in tracker.phases:
        titled = by_title.get(slugify(tracked.title)) if tracked.title else None
        draft = by_id.get(tracked.id or "") or titled
        if draft is not None and draft.tracked is None:
            draft.tracked = tracked
            continue
        line = tracked.row.line - 1
        span, lines = whole_lines(source, line, line + 1)
        name = tracked.id or slugify(tracked.title) or f"row-{tracked.row.line}"
        drafts.append(Draft(name, tracked.title or name, span, lines, tracked=tracked))


def _checklist(
    source: Source, blocks: Sequence[Block], headings: Sequence[Heading], starts: Sequence[int]
) -> list[Draft]:
    """Group boxes under their `##` heading; a box before the first heading is a phase of its own."""
    groups = [section for section in headings if section.level == 2] or [
        section for section in headings if section.level > 2
    ]
    drafts: list[Draft] = []
    ends = _ends(headings, len(source.lines))
    for at, heading in enumerate(groups):
        after = ends[heading.line]
        inside = blocks[bisect_left(starts, heading.line) + 1 : bisect_left(starts, after)]
        has_boxes = any(isinstance(block, Item) and block.box is not None for block in inside)
        if heading.text.strip(" :*_").casefold() in _NO_PHASE or not has_boxes:
            continue
        span, lines = whole_lines(source, heading.line, after)
        title = clean_title(heading.text)
        drafts.append(Draft(slugify(title) or f"part-{at + 1}", title, span, lines, inside, heading))
    first = groups[0].line if groups else len(source.lines)
    alone = [
        block for block in blocks if isinstance(block, Item) and block.box is not None and block.line < first
    ]
    top = min((item.depth for item in alone), default=0)
    singles = [_box_phase(source, blocks, starts, item) for item in alone if item.depth == top]
    return singles + drafts


def _ends(headings: Sequence[Heading], line_count: int) -> dict[int, int]:
    """Return the end of each heading's section, by line: the next heading that is not deeper."""
    ends: dict[int, int] = {}
    open_: list[Heading] = []
    for heading in headings:
        while open_ and open_[-1].level >= heading.level:
            ends[open_.pop().line] = heading.line
        open_.append(heading)
    ends.update((heading.line, line_count) for heading in open_)
    return ends


def _box_phase(source: Source, blocks: Sequence[Block], starts: Sequence[int], item: Item) -> Draft:
    span, lines = whole_lines(source, item.line, item.after)
    inside = blocks[bisect_left(starts, item.line) : bisect_left(starts, item.after)]
    text = item_text(item.text)
    found = _TASK_ID.match(text)
    number = next((group for group in found.groups() if group), "") if found else ""
    title = re.sub(r"^[\s:.)—–-]+", "", text[found.end() :]) if found else text
    name = number.lower() or slugify(text) or f"line-{item.line + 1}"
    return Draft(name, title or text, span, lines, inside)


def _metadata(blocks: Sequence[Block], drafts: Sequence[Draft]) -> list[Metadatum]:
    """Read the block of bold keys between a task plan's title and its first section."""
    found: list[Metadatum] = []
    for block in blocks:
        if isinstance(block, Heading) and (block.level > 1 or (drafts and block is drafts[0].heading)):
            break
        if isinstance(block, Item | Paragraph):
            text = block.text.split("\n")
            for offset, line in enumerate(text if isinstance(block, Paragraph) else text[:1]):
                datum = _METADATA.match(line)
                if datum is not None:
                    first = block.line + offset
                    after = first + (1 if isinstance(block, Paragraph) else len(text))
                    found.append(Metadatum(datum.group(1).strip(), datum.group(2).strip(), first, after))
    return found


def narrative_phases(source: Source, blocks: Sequence[Block]) -> list[Draft]:
    """Find phases in an ordered list under Steps, or in sentences that start with a sequence word."""
    return _ordered(source, blocks) or _sequence(source, blocks)


def _ordered(source: Source, blocks: Sequence[Block]) -> list[Draft]:
    steps = not any(isinstance(block, Heading) and block.level > 1 for block in blocks)
    found: list[Draft] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level > 1:
            name = block.text.strip(" #*_:").casefold()
            steps = re.sub(r"^[\W\d]+", "", name) in _STEPS
        elif steps and isinstance(block, Item) and block.number and block.depth == 0:
            span = source.span(block.line, block.after)
            found.append(_draft_of(source, len(found) + 1, block.text, span))
    return found


def _sequence(source: Source, blocks: Sequence[Block]) -> list[Draft]:
    starts: list[tuple[int, int]] = []
    end = 0
    for block in blocks:
        if isinstance(block, Paragraph) and not block.nested:
            region = source.span(block.line, block.after)
            end = region.end
            # The pattern runs on the file's own text, so that offsets stay valid.
            text = source.text[region.start : region.end].replace("\r", "\n")
            starts.extend(
                (region.start + word.start(), region.start + word.end()) for word in _SEQUENCE.finditer(text)
            )
    headings = [source.starts[block.line] for block in blocks if isinstance(block, Heading)]
    found: list[Draft] = []
    for at, (start, after) in enumerate(starts):
        stop = starts[at + 1][0] if at + 1 < len(starts) else end
        heading = bisect_right(headings, start)
        if heading < len(headings):
            stop = min(stop, headings[heading])
        found.append(_draft_of(source, at + 1, source.text[after:stop], Span(start, stop)))
    return found


def title_of(text: str) -> str:
    """Make a title of at most 60 characters from a sentence, cut at the end of a word."""
    sentence = re.split(r"(?<=[^\s.])[.;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0].strip(" *_")
    if len(sentence) <= _MAX_TITLE:
        return sentence
    cut = sentence[: _MAX_TITLE + 1].rfind(" ")
    return sentence[: cut if cut > 0 else _MAX_TITLE] + "…"


def _natural_key(phase_id: str) -> tuple[tuple[int, ...], str] | None:
    """Return a key that sorts 1, 2, 4a, 4b, 10; None for an id that is not a number."""
    found = re.fullmatch(r"(\d+(?:\.\d+)*)([a-z]?)", phase_id)
    if found is None:
        return None
    # int() raises above 4,300 digits, so only the first 18 digits count.
    return tuple(int(part[:18]) for part in found.group(1).split(".")), found.group(2)
