"""A plan as it is put to a person: what it wants on one screen, and what differs from the text before. Pure.

The one rule: it says what the text says. What a section does not tell is left out, never guessed.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.plan.markdown.blocks import Heading, Item, Paragraph, parse
from asbuilt.plan.markdown.sections import sections_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.plan.model import Phase, Plan

_SIZE: Final = re.compile(
    r"(?:^|[\s*_(|])(?:effort|size|estimate)\W{1,6}(S|M|L|small|medium|large)\b", re.IGNORECASE
)


class Row(NamedTuple):
    """One phase: what it is called, how large it is said to be, and what it promises."""

    id: str
    title: str
    size: str
    """S, M or L; empty where the plan does not say."""
    items: int
    checks: int
    after: tuple[str, ...]


class Summary(NamedTuple):
    """What a person has to know before a yes."""

    title: str
    goal: str
    excluded: str
    """What the plan says it does not do."""
    scope: str
    phases: tuple[Row, ...]
    checks: int
    side_by_side: tuple[tuple[str, ...], ...]
    """Phases that may run beside each other."""


def summary_of(plan: Plan) -> Summary:
    """Read what a plan wants, for a screen."""
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
    # A dependency that is not stated is all that stands before it, which the order shows already.
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
    """Take the words under a heading of the plan itself; a phase's own goal is not the plan's."""
    inside = {line for phase in plan.phases for line in range(phase.lines[0] - 1, phase.lines[1])}
    told: list[str] = []
    level = 0
    for block in parse(plan.source.lines, plan.front.after):
        if block.line in inside:
            continue
        if isinstance(block, Heading):
            if not level or block.level <= level:
                level = block.level if name in sections_in(block.text) else 0
        elif level and isinstance(block, Paragraph | Item):
            told.append(" ".join(block.text.split()))
    return " ".join(told)


class Change(NamedTuple):
    """A line that differs, and its number in the text that has it."""

    sign: str
    """`-` for what is gone, `+` for what is new."""
    line: int
    text: str


def changes(before: Sequence[str], after: Sequence[str]) -> tuple[Change, ...]:
    """Tell which lines differ between two texts, in their order."""
    found: list[Change] = []
    for kind, i, j, k, n in SequenceMatcher(None, before, after).get_opcodes():
        if kind != "equal":
            found += [Change("-", at + 1, before[at]) for at in range(i, j)]
            found += [Change("+", at + 1, after[at]) for at in range(k, n)]
    return tuple(found)
