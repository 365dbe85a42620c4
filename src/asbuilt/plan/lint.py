"""Find the problems of a plan as a whole, each with its line, rule, severity and advice.

Problems of one phase are found while it is read: `phase_facts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from asbuilt.plan.graph import Reference, cycle
from asbuilt.plan.markdown.blocks import Block, Heading
from asbuilt.plan.model import Check, Format, Phase, Plan, Status
from asbuilt.plan.problems import Problem, Rule, Severity, problem

if TYPE_CHECKING:
    from asbuilt.plan.markdown.phases import Found
    from asbuilt.plan.markdown.source import Source
    from asbuilt.plan.phase_facts import Facts

TASK_METADATA: Final = (
    "Task", "Status", "Effort", "Dependencies", "Research Inputs", "Artifacts", "Standards", "Type",
)  # fmt: skip
PLAN_METADATA: Final = ("created", "status")
_NOT_UTF8: Final = re.compile("[\udc80-\udcff]")
_TASK_SECTIONS: Final = (
    "Overview", "Goals & Non-Goals", "Risks & Mitigations", "Implementation Phases", "Testing & Validation",
    "Artifacts & Outputs", "Rollback/Contingency",
)  # fmt: skip


class Length(StrEnum):
    """Values of `plan.length`, mildest first."""

    CONTROL = "control"
    TRIM = "trim"
    CUT = "cut"
    CAP = "cap"


LINES: Final = 40
"""Line limit: more lines are a warning with `cut`, and an error with `cap`."""

# Measured: readers rejected half of the plans over 20,000 characters, and a fifth of those under 2,000.
# 11,617 characters is the 90th percentile.
_LONG: Final = 20_000
_LONGISH: Final = 11_617
_CONTEXT: Final = frozenset({"context", "background", "overview", "motivation", "introduction"})
_GOAL: Final = frozenset({"goal", "goals"})


def with_problems(
    plan: Plan, found: Found, facts: Sequence[Facts], problems: Iterable[Problem], length: Length, body: str
) -> Plan:
    """Return the plan with all its problems, in the order of their lines.

    `body` is the plan below its front matter, without marks; the policy `length` applies to it.
    """
    every = [
        *problems,
        *plan.front.problems,
        *(flaw for fact in facts for flaw in fact.problems),
        *_bytes(plan.source),
        *_whole(plan, found),
        *by_characters(len(plan.source.text)),
        *by_policy(length, plan.source, body, found.loose, plan.checks),
        *_structure(plan, found, facts),
        *(flaw for phase, fact in zip(plan.phases, facts, strict=True) for flaw in _phase(phase, fact)),
    ]
    return replace(plan, problems=tuple(sorted(dict.fromkeys(every))))


def unknown_dependency(phase_id: str, reference: Reference) -> Problem:
    """Report a dependency on a phase that the plan does not have."""
    name = reference.first if reference.first == reference.last else f"{reference.first}-{reference.last}"
    return problem(
        reference.line,
        Rule.UNKNOWN_DEPENDENCY,
        f"phase {phase_id} depends on phase {name}, which does not exist",
        advice=f"Add phase {name}, or remove it from the Dependencies line.",
    )


def _bytes(source: Source) -> Iterator[Problem]:
    text = source.text
    bad = None if text.isascii() else _NOT_UTF8.search(text)
    if bad is not None:
        yield problem(source.line_of(bad.start()) + 1, Rule.NOT_UTF8, "holds a byte that is not UTF-8")
    nul = text.find("\0")
    if nul >= 0:
        yield problem(source.line_of(nul) + 1, Rule.NUL, "holds a NUL byte")


def _whole(plan: Plan, found: Found) -> Iterator[Problem]:
    if not plan.title:
        yield problem(1, Rule.MISSING_TITLE, "has no title")
    if not plan.phases:
        yield problem(1, Rule.NO_PHASES, "has no recognizable phase")
    if found.dropped:
        yield problem(
            1,
            Rule.TOO_MANY_PHASES,
            f"has {len(plan.phases) + found.dropped:,} phases; only the first {len(plan.phases):,} are read",
        )
    if found.format is Format.TASK:
        headings = (block.text for block in found.loose if isinstance(block, Heading))
        names = {text.strip(" :*_").casefold() for text in headings}
        yield from _missing(_TASK_SECTIONS, names, Rule.MISSING_SECTION)
        have = {datum.key.casefold() for datum in found.metadata}
        yield from _missing(TASK_METADATA, have, Rule.MISSING_METADATA)
    elif plan.front.is_ours:
        yield from _missing(
            ("Goal", "Scope", "Non-Scope", "Verification", "Risks", "Open Questions"),
            {name.casefold() for name in plan.sections},
            Rule.MISSING_SECTION,
        )
        have = {entry.key for entry in plan.front.entries}
        yield from _missing(PLAN_METADATA, have, Rule.MISSING_METADATA)


def _missing(wanted: Iterable[str], have: set[str], rule: Rule) -> Iterator[Problem]:
    fixable = rule is Rule.MISSING_METADATA
    for name in wanted:
        if name.casefold() not in have:
            advice = f"Add it; --fix writes {name}: TBD." if fixable else f"Add a heading {name}."
            yield problem(1, rule, f"has no {name}", advice=advice)


def _structure(plan: Plan, found: Found, facts: Sequence[Facts]) -> Iterator[Problem]:
    firsts: dict[str, Phase] = {}
    for phase in sorted(plan.phases, key=lambda phase: phase.lines):
        first = firsts.setdefault(phase.id, phase)
        if first is not phase:
            yield problem(
                phase.lines[0], Rule.DUPLICATE_PHASE, f"phase {phase.id} is already on line {first.lines[0]}"
            )
    circle = cycle({phase.id: phase.depends_on.on for phase in firsts.values()})
    if circle:
        at = next(at for at, phase in enumerate(plan.phases) if phase.id in circle)
        stated = facts[at].dependencies.references
        yield problem(
            stated[0].line if stated else plan.phases[at].lines[0],
            Rule.CIRCULAR_DEPENDENCY,
            f"phases wait for each other: {' -> '.join((*circle, circle[0]))}",
        )
    if found.tracker is not None:
        for phase in plan.phases:
            if phase.row is None:
                yield problem(
                    phase.lines[0], Rule.MISSING_TRACKER_ROW, f"phase {phase.id} has no row in the tracker"
                )


def _phase(phase: Phase, facts: Facts) -> Iterator[Problem]:
    line = phase.lines[0] if phase.row is None else phase.row.line
    if phase.status is Status.UNKNOWN and phase.spot is not None:
        yield problem(
            line,
            Rule.UNKNOWN_STATUS,
            f'phase {phase.id} has the status "{phase.spot.text}", which is not a known status',
        )
    open_boxes = sum(not item.done for item in phase.work_items if item.box is not None)
    if phase.status is Status.DONE and phase.spot is not None and open_boxes:
        yield problem(
            line,
            Rule.STATUS_DISAGREES,
            f"phase {phase.id} is marked done, and {open_boxes} of its boxes are open",
        )
    yield from _check(phase, facts)
    yield from _numbers(phase)


def _check(phase: Phase, facts: Facts) -> Iterator[Problem]:
    if phase.checks or phase.status is Status.DONE:
        return
    # A prose Verification of a UI phase is its sign-off list: a person checks it, not a command.
    hard = facts.verifies is not None and not phase.touches_ui
    yield problem(
        facts.verifies or phase.lines[0],
        Rule.NO_CHECK,
        f"phase {phase.id} has no check that can be run",
        severity=Severity.ERROR if hard else None,
    )


def _numbers(phase: Phase) -> Iterator[Problem]:
    for criterion in phase.criteria:
        claim = criterion.claim
        if claim is None:
            continue
        if claim.derived is None:
            yield problem(
                criterion.line,
                Rule.NO_RULE,
                f"pre-dispatch arithmetic check: {criterion.text} skipped (no derivable rule)",
            )
        elif claim.drift_pct:
            yield problem(
                criterion.line,
                Rule.DRIFT,
                f"says {_range_words(claim.form, claim.low, claim.high)}; {claim.rule} is {claim.derived}",
            )


def _range_words(form: str, low: int | None, high: int | None) -> str:
    if form == "range":
        return f"{low}-{high}"
    words = {"at_most": "at most", "at_least": "at least", "exactly": "exactly", "about": "about"}
    return f"{words[form]} {low if low is not None else high}"


def by_characters(count: int) -> Iterator[Problem]:
    """Report the size band of a plan: longer plans are rejected more often."""
    if count >= _LONGISH:
        evidence = (
            "readers rejected half of the plans over 20,000 characters and a fifth of those under 2,000"
        )
        severity = Severity.WARNING if count >= _LONG else Severity.INFO
        yield problem(1, Rule.LONG_PLAN, f"has {count:,} characters; {evidence}", severity=severity)


def by_policy(
    length: Length, source: Source, body: str, loose: Sequence[Block], checks: Sequence[Check]
) -> Iterator[Problem]:
    """Check a plan against the chosen policy.

    `body` is the plan below its front matter, without marks; `loose` and `checks` are outside all phases.
    """
    if length is Length.TRIM:
        yield from _context(source, loose, _CONTEXT | _GOAL, most=1)
        for check in checks[1:2]:
            message = f"has {len(checks)} commands that verify the whole"
            advice = "Keep the one command that checks the whole plan."
            yield problem(check.line, Rule.LONG_PLAN, message, advice=advice)
    if length is Length.CUT:
        yield from _context(source, loose, _CONTEXT, most=0)
    if length in (Length.CUT, Length.CAP):
        lines = sum(bool(line.strip()) for line in body.split("\n"))
        if lines > LINES:
            severity = Severity.ERROR if length is Length.CAP else None
            message = f"has {lines} lines that are not blank; plan.length {length} takes {LINES}"
            yield problem(1, Rule.LONG_PLAN, message, severity=severity)


def _context(
    source: Source, loose: Sequence[Block], names: frozenset[str], *, most: int
) -> Iterator[Problem]:
    for at, block in enumerate(loose):
        if not isinstance(block, Heading) or block.text.strip(" :*_#").casefold() not in names:
            continue
        under = takewhile(lambda piece: not isinstance(piece, Heading), loose[at + 1 :])
        lines = {
            line for piece in under for line in range(piece.line, piece.after) if source.lines[line].strip()
        }
        if len(lines) > most:
            wanted = "one is enough" if most else "none is needed"
            message = f"has {len(lines)} lines under {block.text.strip()}; {wanted}"
            advice = "Readers know the project; describe only what changes."
            yield problem(block.line + 1, Rule.LONG_PLAN, message, advice=advice)
