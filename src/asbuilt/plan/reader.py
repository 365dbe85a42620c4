"""Read a plan: bytes in, model out. Raises only for more than 2,000,000 bytes."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote

from asbuilt.plan import lint
from asbuilt.plan.checks import checks_of
from asbuilt.plan.graph import Order, next_phase, waves
from asbuilt.plan.intent_digest import Blanks, blanks_of, intent_of
from asbuilt.plan.lint import Length
from asbuilt.plan.markdown.blocks import Block, Heading, Paragraph, parse
from asbuilt.plan.markdown.frontmatter import FrontMatter, read_front_matter
from asbuilt.plan.markdown.items import locate_boxes
from asbuilt.plan.markdown.phase_headings import clean_title, heading_spot
from asbuilt.plan.markdown.phases import Draft, Found, find_phases
from asbuilt.plan.markdown.sections import SECTIONS, part_of, pieces, sections_in
from asbuilt.plan.markdown.source import Source, Span, digest
from asbuilt.plan.markdown.statuses import read_commit, read_status, stated_commit
from asbuilt.plan.model import Box, Check, Format, Phase, Plan, Spot, Status, stated_progress, ticked_items
from asbuilt.plan.names import slugify
from asbuilt.plan.phase_facts import Facts, read_phase, status_from_boxes
from asbuilt.plan.problems import Problem
from asbuilt.plan.touches_ui import touches_ui

_DOCUMENT: Final = re.compile(
    r"(?i)\[[^]\n]{0,90}\]\((?:<(?P<angled>[^<>\n]{1,90}\.md)|(?P<link>[^()<>\s]{1,180}?\.md\b))"
    r"|`(?P<code>[^`\n]{1,90}\.md)`|<(?P<bare>[^<>\n]{1,90}\.md)>|(?<![\w/.-])(?P<plain>[\w./-]+\.md)\b"
)
"""The name of a document, which has spaces only as code, as a link, or in angle brackets."""
_PROGRESS: Final = re.compile(r"(?i)\bprogress\b[^.\n]*$")
_PROGRESS_NAME: Final = re.compile(r"(?i)(?:progress|status|tracker)[\w-]*\.md$")
_NEAR: Final = 90
"""Most characters between the word "progress" and the name of a document."""
_TITLE_LABEL: Final = re.compile(r"(?i)(?:implementation\s+)?plan\s*:\s*")


class _Standing(NamedTuple):
    status: Status
    commit: str | None
    spot: Spot | None


class _Row(NamedTuple):
    draft: Draft
    facts: Facts
    standing: _Standing


def read(
    data: bytes,
    *,
    progress_document: Plan | None = None,
    ui_patterns: Sequence[str] = (),
    length: Length = Length.CONTROL,
) -> Plan:
    """Read a plan from its bytes.

    `progress_document` is the one that the plan names, read by the same function; it counts only where the
    plan itself states nothing. `ui_patterns` are the project's globs for UI files. `length` is the policy
    for the plan's size.
    """
    # A long plan creates many small objects and frees none of them, so collecting garbage only costs time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _read(data, progress_document, ui_patterns, length)
    finally:
        if collecting:
            gc.enable()


def _read(data: bytes, progress_document: Plan | None, ui_patterns: Sequence[str], length: Length) -> Plan:
    source = Source(data)
    front = read_front_matter(source)
    blocks = parse(source.lines, front.after)
    found = find_phases(source, blocks)
    boxes = locate_boxes(source, blocks)
    rows = _rows_of(source, found, boxes, progress_document)
    spots = [row.standing.spot for row in rows if row.standing.spot and row.standing.spot.kind != "cell"]
    spots += [row.facts.spot for row in rows if row.facts.spot is not None]
    blanks = blanks_of(source, front, boxes.values(), found, spots)
    loose = list(pieces(found.loose))
    for_all, for_plan = checks_of(loose, frozenset({"commands"})), checks_of(loose, frozenset({"verify"}))
    phases, problems = _phases(source, rows, blanks, for_all, ui_patterns)
    headings = [block for block in blocks if isinstance(block, Heading)]
    firsts = {phase.id: phase for phase in reversed(phases)}
    needs = {phase.id: firsts[phase.id].depends_on.on for phase in phases}
    statuses = {phase_id: firsts[phase_id].status for phase_id in needs}
    plan = Plan(
        source=source,
        front=front,
        metadata=tuple(found.metadata),
        title=_title(front, headings),
        format=found.format,
        status=_status(front, found),
        issues=front.issues,
        labels=tuple(dict.fromkeys(filter(None, front.all("worker")))),
        digest=digest(data),
        intent=intent_of(blanks.wanted(source.text, Span(0, len(source.text)))),
        phases=phases,
        waves=waves(needs),
        next=next_phase(statuses, needs),
        progress=stated_progress(phases, found.format),
        items=ticked_items(phases),
        current=next((item.text for phase in phases for item in phase.work_items if item.is_open), None),
        checks=for_plan,
        progress_document=_progress_document(found.loose),
        sections=_sections(headings),
        problems=(),
        without_marks=lambda line: blanks.wanted(source.text, source.span(line, line + 1)),
    )
    body = blanks.wanted(source.text, source.span(front.after, len(source.lines)))
    return lint.with_problems(plan, found, [row.facts for row in rows], problems, length, body)


def _rows_of(
    source: Source, found: Found, boxes: Mapping[int, Box], progress_document: Plan | None
) -> list[_Row]:
    elsewhere: dict[str, _Standing] = {}
    for phase in () if progress_document is None else progress_document.phases:
        if phase.status is not Status.UNKNOWN:
            for name in (phase.id, slugify(phase.title)):
                elsewhere.setdefault(name, _Standing(phase.status, phase.commit, None))
    rows: list[_Row] = []
    for draft in found.drafts:
        facts = read_phase(source, draft.blocks, boxes)
        standing = _standing(source, draft, facts)
        if standing is None and elsewhere:
            standing = elsewhere.get(draft.id) or elsewhere.get(slugify(draft.title))
        if standing is None:
            silent = Status.UNKNOWN if found.format is Format.NARRATIVE else Status.PENDING
            standing = _Standing(silent, None, None)
        rows.append(_Row(draft, facts, standing))
    return rows


def _standing(source: Source, draft: Draft, facts: Facts) -> _Standing | None:
    """Return the status from the most explicit place: tracker row, heading, status line, then boxes."""
    if draft.tracked is not None:
        row = draft.tracked.row
        commit = read_commit(draft.tracked.commit_text) or stated_commit(row.status_text)
        spot = None if row.status is None else Spot(kind="cell", span=row.status, text=row.status_text)
        return _Standing(read_status(row.status_text), commit, spot)
    spot = heading_spot(source, draft.heading) if draft.heading is not None else None
    if spot is not None:
        line = "" if facts.spot is None else facts.spot.text
        return _Standing(read_status(spot.text), stated_commit(line) or facts.commit, spot)
    if facts.spot is not None:
        text = facts.spot.text
        return _Standing(read_status(text), stated_commit(text) or facts.commit, facts.spot)
    boxes = status_from_boxes(facts.work_items)
    return None if boxes is None else _Standing(boxes, facts.commit, None)


def _phases(
    source: Source,
    rows: Sequence[_Row],
    blanks: Blanks,
    for_all: tuple[Check, ...],
    ui_patterns: Sequence[str],
) -> tuple[tuple[Phase, ...], list[Problem]]:
    order = Order(row.draft.id for row in rows)
    commands = {check.command for check in for_all}
    phases: list[Phase] = []
    problems: list[Problem] = []
    for at, (draft, fact, standing) in enumerate(rows):
        depends_on, unknown = order.resolve(at, fact.dependencies)
        problems += [lint.unknown_dependency(draft.id, reference) for reference in unknown]
        own = {check.command for check in fact.checks}
        shared = for_all
        if not own.isdisjoint(commands):
            shared = tuple(check for check in for_all if check.command not in own)
        wanted = blanks.wanted(source.text, draft.span)
        phases.append(
            Phase(
                id=draft.id,
                title=draft.title,
                status=standing.status,
                commit=standing.commit,
                depends_on=depends_on,
                touches_ui=touches_ui(wanted, ui_patterns),
                execution=fact.execution,
                delegate=fact.delegate,
                work_items=fact.work_items,
                criteria=fact.criteria,
                checks=fact.checks + shared,
                span=draft.span,
                lines=draft.lines,
                intent=intent_of(wanted),
                heading_after=None if draft.heading is None else draft.heading.after,
                spot=standing.spot,
                line_spot=fact.spot,
                row=None if draft.tracked is None else draft.tracked.row,
            )
        )
    return tuple(phases), problems


def _title(front: FrontMatter, headings: Iterable[Heading]) -> str:
    title = front.value("title")
    if title:
        return title
    first = next((heading.text for heading in headings if heading.level == 1), "")
    return _TITLE_LABEL.sub("", clean_title(first), count=1)


def _status(front: FrontMatter, found: Found) -> str | None:
    status = front.value("status")
    if status:
        return status
    stated = next((datum.value for datum in found.metadata if datum.key.casefold() == "status"), None)
    return stated.strip("[]` ").casefold() if stated else None


def _progress_document(loose: Iterable[Block]) -> str | None:
    for block in loose:
        if not isinstance(block, Paragraph) or ".md" not in block.text.casefold():
            continue
        for document in _DOCUMENT.finditer(block.text):
            kind = document.lastgroup or ""
            name = unquote(document[kind]) if kind in ("angled", "link") else document[kind]
            befores = (block.text[max(0, at - _NEAR) : at] for at in (document.start(), document.start(kind)))
            is_meant = any(map(_PROGRESS.search, befores)) or _PROGRESS_NAME.search(name[-_NEAR:])
            if is_meant and name.isprintable():
                return name
    return None


def _sections(headings: Iterable[Heading]) -> tuple[str, ...]:
    present: set[str] = set()
    for name in dict.fromkeys(heading.text for heading in headings):
        present |= sections_in(name)
        if part_of(name.strip(" :*_#")) == "verify":
            present.add("Verification")
    return tuple(name for name in SECTIONS if name in present)
