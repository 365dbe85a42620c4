"""What a phase's text shows before work starts: doubts, the plan it is delegated to, independent items.

A doubt: the text admits to be stale, or its numbers disagree. Rule: in an attended run the user decides. An
unattended run reports doubts and refuses only a grave one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.plan.problems import Rule

if TYPE_CHECKING:
    from asbuilt.plan.model import Phase, Plan

GRAVE_PCT: Final = 20
"""Drift above this is more than rounding; the same limit applies after the work."""

Course = Literal["go", "tell", "ask", "refuse"]
_PATH: Final = re.compile(r"`([\w@.+/-]*[./][\w@.+/-]*)`")
"""A file or folder in backticks."""


class Doubt(NamedTuple):
    """One reason to review a phase before work starts."""

    phase: str
    line: int
    what: str
    is_grave: bool = False


def doubts_in(plan: Plan, phases: Iterable[Phase]) -> tuple[Doubt, ...]:
    """List the doubts about the phases to work on, in the order of the file."""
    found = [doubt for phase in phases for doubt in (*_stale(plan, phase), *_off(phase))]
    return tuple(sorted(found, key=lambda doubt: doubt.line))


def _stale(plan: Plan, phase: Phase) -> Iterator[Doubt]:
    first, last = phase.lines
    for problem in plan.problems:
        if problem.rule is Rule.STALE_TEXT and first <= problem.line <= last:
            yield Doubt(phase.id, problem.line, problem.message)


def _off(phase: Phase) -> Iterator[Doubt]:
    for criterion in phase.criteria:
        claim = criterion.claim
        if claim is not None and claim.drift_pct:
            stated = "-".join(
                str(bound) for bound in dict.fromkeys((claim.low, claim.high)) if bound is not None
            )
            what = f"plan says {stated}, arithmetic says {claim.derived}, drift {claim.drift_pct} %"
            yield Doubt(phase.id, criterion.line, what, is_grave=claim.drift_pct > GRAVE_PCT)


def course_for(doubts: Iterable[Doubt], *, is_attended: bool) -> Course:
    """Choose how a run with these doubts continues."""
    doubts = tuple(doubts)
    if not doubts:
        return "go"
    if is_attended:
        return "ask"
    return "refuse" if any(doubt.is_grave for doubt in doubts) else "tell"


def plan_in(delegate: str) -> str | None:
    """Return the plan in a phase's Execution, as in `delegate /run-plan plans/sub.md`; None without one."""
    words = (word.strip("`'\"") for word in delegate.split())
    return next((word for word in words if word.endswith(".md")), None)


def independent_groups(items: Iterable[str]) -> tuple[tuple[int, ...], ...]:
    """Group items, numbered from 1, by the files and folders that they name; those without are left out."""
    groups: list[tuple[set[str], list[int]]] = []
    for number, text in enumerate(items, 1):
        paths, numbers = set(_PATH.findall(text)), [number]
        if not paths:
            continue
        for group in [pair for pair in groups if _touch(pair[0], paths)]:
            groups.remove(group)
            paths, numbers = paths | group[0], [*group[1], *numbers]
        groups.append((paths, sorted(numbers)))
    return tuple(sorted(tuple(numbers) for _, numbers in groups))


def _touch(these: set[str], those: set[str]) -> bool:
    pairs = ((path.rstrip("/"), other.rstrip("/")) for path in these for other in those)
    return any(
        f"{pair}/".startswith(f"{other}/") or f"{other}/".startswith(f"{pair}/") for pair, other in pairs
    )
