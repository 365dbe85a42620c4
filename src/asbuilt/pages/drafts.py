"""A plan as shown for approval: its summary on one screen, and its diff to the previous text. Pure.

Rule: what a section does not state is left out, never guessed.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.plan.markdown.blocks import Heading, Item, Paragraph, parse
from asbuilt.plan.markdown.sections import sections_in

if TYPE_CHECKING:
    from asbuilt.plan.model import Phase, Plan

_SIZE: Final = re.compile(
    r"(?:^|[\s*_(|])(?:effort|size|estimate)\W{1,6}(S|M|L|small|medium|large)\b", re.IGNORECASE
)


class Row(NamedTuple):
    """One phase: title, stated size, and counts of items and checks."""

    id: str
    title: str
    size: str
    """S, M or L; empty if the plan does not state it."""
    items: int
    checks: int
    after: tuple[str, ...]


class Summary(NamedTuple):
    """What the user has to know before an approval."""

    title: str
    goal: str
    excluded: str
    """What the plan excludes."""
    scope: str
    phases: tuple[Row, ...]
    checks: int
    side_by_side: tuple[tuple[str, ...], ...]
    """Groups of phases that may run in parallel."""


def summary_of(plan: Plan) -> Summary:
    """Summarize a plan for one screen."""
    waves = [wave for wave in plan.waves if len(wave) > 1]
    return Summary(
        title=plan.title,
        goal=_section(plan, "Goal"),
        excluded=_section(plan, "Non-Scope"),
        scope=_section(plan, "Scope"),
        phases=tuple(_row(plan, phase) for phase in plan.phases),
        checks=len({check.command for phase in plan.phases for check in phase.checks}),
        side_by_side=tuple(waves),
    )


def _row(plan: Plan, phase: Phase) -> Row:
    # Without a stated dependency a phase depends on all phases before it, which the order shows already.
    after = phase.depends_on.on if phase.depends_on.stated else ()
    size = _SIZE.search(plan.source.text[phase.span.start : phase.span.end])
    return Row(
        id=phase.id,
        title=phase.title,
        size=size[1][0].upper() if size else "",
        items=len(phase.work_items),
        checks=len(phase.checks),
        after=after,
    )


def _section(plan: Plan, name: str) -> str:
    inside = {line for phase in plan.phases for line in range(phase.lines[0] - 1, phase.lines[1])}
    texts: list[str] = []
    level = 0
    for block in parse(plan.source.lines, plan.front.after):
        if block.line in inside:
            continue
        if isinstance(block, Heading):
            if not level or block.level <= level:
                level = block.level if name in sections_in(block.text) else 0
        elif level and isinstance(block, Paragraph | Item):
            texts.append(" ".join(block.text.split()))
    return " ".join(texts)


class Change(NamedTuple):
    """A line that differs, with its number in the text that contains it."""

    sign: str
    """`-` for a removed line, `+` for an added one."""
    line: int
    text: str


def changes(before: Plan, after: Plan) -> tuple[Change, ...]:
    """List the lines that differ between two texts, in order; marks of progress are no difference."""
    old, new = _unmarked(before), _unmarked(after)
    found: list[Change] = []
    for kind, i, j, k, n in SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            found += [Change("-", at + 1, before.source.lines[at]) for at in range(i, j) if old[at]]
            found += [Change("+", at + 1, after.source.lines[at]) for at in range(k, n) if new[at]]
    return tuple(found)


def _unmarked(plan: Plan) -> list[str]:
    return [plan.without_marks(line) for line in range(len(plan.source.lines))]
