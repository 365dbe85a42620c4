"""Find every problem of a plan, each with its line, rule, severity and advice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from asbuilt.plan.graph import cycle
from asbuilt.plan.markdown.blocks import Heading
from asbuilt.plan.model import Format, Phase, Plan, Status
from asbuilt.plan.problems import Problem, Rule, Severity
from asbuilt.plan.rules.length import by_characters, by_policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from asbuilt.plan.formats import Found
    from asbuilt.plan.graph import Reference
    from asbuilt.plan.markdown.source import Source
    from asbuilt.plan.phases import Facts
    from asbuilt.plan.rules.length import Length

TASK_METADATA: Final = (
    "Task", "Status", "Effort", "Dependencies", "Research Inputs", "Artifacts", "Standards", "Type",
)  # fmt: skip
PLAN_METADATA: Final = ("created", "status")
_NOT_UTF8: Final = re.compile("[\udc80-\udcff]")
_TASK_SECTIONS: Final = (
    "Overview", "Goals & Non-Goals", "Risks & Mitigations", "Implementation Phases", "Testing & Validation",
    "Artifacts & Outputs", "Rollback/Contingency",
)  # fmt: skip


def with_problems(
    plan: Plan, found: Found, facts: Sequence[Facts], problems: Iterable[Problem], length: Length, body: str
) -> Plan:
    """Return the plan with all its problems, in the order of their lines.

    `body` is the plan below its front matter, without marks; the policy `length` applies to it.
    """
    every = [
        *problems,
        *plan.front.problems,
        *(problem for fact in facts for problem in fact.problems),
        *_bytes(plan.source),
        *_whole(plan, found),
        *by_characters(len(plan.source.text)),
        *by_policy(length, plan.source, body, found.loose, plan.checks),
        *_structure(plan, found, facts),
        *(problem for phase, fact in zip(plan.phases, facts, strict=True) for problem in _phase(phase, fact)),
    ]
    return replace(plan, problems=tuple(sorted(dict.fromkeys(every))))


def unknown_dependency(phase_id: str, reference: Reference) -> Problem:
    """Report a dependency on a phase that the plan does not have."""
    name = reference.first if reference.first == reference.last else f"{reference.first}-{reference.last}"
    return Problem(
        reference.line,
        Severity.ERROR,
        Rule.UNKNOWN_DEPENDENCY,
        f"phase {phase_id} depends on phase {name}, which does not exist",
        f"Add phase {name}, or take it off the Dependencies line.",
    )


def _bytes(source: Source) -> Iterator[Problem]:
    text = source.text
    bad = None if text.isascii() else _NOT_UTF8.search(text)
    if bad is not None:
        yield Problem(
            source.line_of(bad.start()) + 1,
            Severity.ERROR,
            Rule.NOT_UTF8,
            "holds a byte that is not UTF-8",
            "Save the file as UTF-8; agents would read something else than you see.",
        )
    nul = text.find("\0")
    if nul >= 0:
        yield Problem(
            source.line_of(nul) + 1,
            Severity.WARNING,
            Rule.NUL,
            "holds a NUL byte",
            "Take it out; few tools show it.",
        )


def _whole(plan: Plan, found: Found) -> Iterator[Problem]:
    if not plan.title:
        yield Problem(
            1,
            Severity.ERROR,
            Rule.MISSING_TITLE,
            "has no title",
            "Write a first heading, e.g. # Rate limiting.",
        )
    if not plan.phases:
        yield Problem(
            1,
            Severity.ERROR,
            Rule.NO_PHASES,
            "has no phase that can be told apart",
            "Write headings like ## Phase 1 — Title, a list of - [ ] boxes, or a Phase | Status table.",
        )
    if found.dropped:
        yield Problem(
            1,
            Severity.ERROR,
            Rule.TOO_MANY_PHASES,
            f"has {len(plan.phases) + found.dropped:,} phases; only the first {len(plan.phases):,} are read",
            "Split it into several plans.",
        )
    if found.format is Format.TASK:
        yield from _missing(_TASK_SECTIONS, _names(found), Rule.MISSING_SECTION)
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


def _names(found: Found) -> set[str]:
    return {block.text.strip(" :*_").casefold() for block in found.loose if isinstance(block, Heading)}


def _missing(wanted: Iterable[str], have: set[str], rule: Rule) -> Iterator[Problem]:
    fixable = rule is Rule.MISSING_METADATA
    for name in wanted:
        if name.casefold() not in have:
            advice = f"Add it; --fix writes {name}: TBD." if fixable else f"Add a heading {name}."
            yield Problem(1, Severity.WARNING, rule, f"has no {name}", advice)


def _structure(plan: Plan, found: Found, facts: Sequence[Facts]) -> Iterator[Problem]:
    firsts: dict[str, Phase] = {}
    for phase in sorted(plan.phases, key=lambda phase: phase.lines):
        first = firsts.setdefault(phase.id, phase)
        if first is not phase:
            yield Problem(
                phase.lines[0],
                Severity.ERROR,
                Rule.DUPLICATE_PHASE,
                f"phase {phase.id} is there already, on line {first.lines[0]}",
                "Give each phase a number of its own; a run could not tell them apart.",
            )
    circle = cycle({phase.id: phase.depends_on.on for phase in firsts.values()})
    if circle:
        at = next(at for at, phase in enumerate(plan.phases) if phase.id in circle)
        stated = facts[at].dependencies.references
        yield Problem(
            stated[0].line if stated else plan.phases[at].lines[0],
            Severity.ERROR,
            Rule.CIRCULAR_DEPENDENCY,
            f"phases wait for each other: {' -> '.join((*circle, circle[0]))}",
            "Take one of them off a Dependencies line; a phase that states none waits for all before it.",
        )
    if found.tracker is not None:
        for phase in plan.phases:
            if phase.row is None:
                yield Problem(
                    phase.lines[0],
                    Severity.WARNING,
                    Rule.MISSING_TRACKER_ROW,
                    f"phase {phase.id} has no row in the tracker",
                    "Add a row, so that its progress can be read at a glance.",
                )


def _phase(phase: Phase, facts: Facts) -> Iterator[Problem]:
    line = phase.lines[0] if phase.row is None else phase.row.line
    if phase.status is Status.UNKNOWN and phase.spot is not None:
        yield Problem(
            line,
            Severity.WARNING,
            Rule.UNKNOWN_STATUS,
            f'phase {phase.id} has the status "{phase.spot.text}", which means nothing here',
            "Write ✅ Done, 🟡, ⬚ or a word like done, in progress, pending, blocked.",
        )
    open_boxes = sum(not item.done for item in phase.work_items if item.box is not None)
    if phase.status is Status.DONE and phase.spot is not None and open_boxes:
        yield Problem(
            line,
            Severity.WARNING,
            Rule.STATUS_DISAGREES,
            f"phase {phase.id} is marked done, and {open_boxes} of its boxes are open",
            "Tick the boxes if they are done, or mark the phase as it is.",
        )
    yield from _check(phase, facts)
    yield from _numbers(phase)


def _check(phase: Phase, facts: Facts) -> Iterator[Problem]:
    if phase.checks or phase.status is Status.DONE:
        return
    advice = 'Add a command under Verification; "looks right" proves nothing.'
    # A prose Verification of a UI phase is its sign-off list: a person checks it, not a command.
    hard = facts.verifies is not None and not phase.touches_ui
    yield Problem(
        facts.verifies or phase.lines[0],
        Severity.ERROR if hard else Severity.WARNING,
        Rule.NO_CHECK,
        f"phase {phase.id} has no check that can be run",
        advice,
    )


def _numbers(phase: Phase) -> Iterator[Problem]:
    for criterion in phase.criteria:
        claim = criterion.claim
        if claim is None:
            continue
        if claim.derived is None:
            yield Problem(
                criterion.line,
                Severity.INFO,
                Rule.NO_RULE,
                f"pre-dispatch arithmetic check: {criterion.text} skipped (no derivable rule)",
                "Nothing to do; a rule under Design & Constraints with the same `key` lets it be checked.",
            )
        elif claim.drift_pct:
            yield Problem(
                criterion.line,
                Severity.WARNING,
                Rule.DRIFT,
                f"says {_said(claim.form, claim.low, claim.high)}; {claim.rule} is {claim.derived}",
                "Correct the number or the rule; --fix does not touch numbers.",
            )


def _said(form: str, low: int | None, high: int | None) -> str:
    if form == "range":
        return f"{low}-{high}"
    words = {"at_most": "at most", "at_least": "at least", "exactly": "exactly", "about": "about"}
    return f"{words[form]} {low if low is not None else high}"
