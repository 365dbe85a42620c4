"""Problems of plans: rules, severities, and a problem on a line."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Severity(StrEnum):
    """Severity of a problem: an error stops a run, a warning is shown, an info is shown on request."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Rule(StrEnum):
    """Rules for plans; docs/reference/plans.md explains each."""

    CIRCULAR_DEPENDENCY = "circular-dependency"
    DRIFT = "drift"
    DROPPED_ITEM = "dropped-item"
    DUPLICATE_PHASE = "duplicate-phase"
    FRONT_MATTER = "front-matter"
    LONG_PLAN = "long-plan"
    MISSING_METADATA = "missing-metadata"
    MISSING_SECTION = "missing-section"
    MISSING_TITLE = "missing-title"
    MISSING_TRACKER_ROW = "missing-tracker-row"
    NO_CHECK = "no-check"
    NO_PHASES = "no-phases"
    NO_PROGRAM = "no-program"
    NO_RULE = "no-rule"
    NOT_UTF8 = "not-utf8"
    NUL = "nul"
    PROVES_NOTHING = "proves-nothing"
    STALE_TEXT = "stale-text"
    STATUS_DISAGREES = "status-disagrees"
    TOO_MANY_PHASES = "too-many-phases"
    UNKNOWN_DEPENDENCY = "unknown-dependency"
    UNKNOWN_EXECUTION = "unknown-execution"
    UNKNOWN_STATUS = "unknown-status"
    UNREADABLE_CHECK = "unreadable-check"
    UNTRIED_CHECK = "untried-check"


class Problem(NamedTuple):
    """A problem of a plan, and its line."""

    line: int
    severity: Severity
    rule: Rule
    message: str
    advice: str


_ERROR, _WARNING, _INFO = Severity
_USUAL: Final = {
    Rule.CIRCULAR_DEPENDENCY: (_ERROR,
        "Remove one from a Dependencies line; a phase that states none waits for all before it."),
    Rule.DRIFT: (_WARNING, "Correct the number or the rule; --fix does not touch numbers."),
    Rule.DROPPED_ITEM: (_INFO,
        "Remove it from the plan, or tick it: a phase is done when all its items are."),
    Rule.DUPLICATE_PHASE: (_ERROR, "Give each phase its own number."),
    Rule.FRONT_MATTER: (_ERROR,
        "Fix the lines between the two --- lines, or remove them; until then the keys are ignored."),
    Rule.LONG_PLAN: (_WARNING, "Delete prose; keep file paths, commands and criteria."),
    Rule.MISSING_METADATA: (_WARNING, ""),
    Rule.MISSING_SECTION: (_WARNING, ""),
    Rule.MISSING_TITLE: (_ERROR, "Write a first heading, e.g. # Rate limiting."),
    Rule.MISSING_TRACKER_ROW: (_WARNING, "Add a row, so that its progress can be read at a glance."),
    Rule.NO_CHECK: (_WARNING, 'Add a command under Verification; "looks right" proves nothing.'),
    Rule.NO_PHASES: (_ERROR,
        "Write headings like ## Phase 1 — Title, a list of - [ ] boxes, or a Phase | Status table."),
    Rule.NO_PROGRAM: (_ERROR, "Name an installed program, or install it in checks.setup."),
    Rule.NO_RULE: (_INFO,
        "Nothing to do; a rule under Design & Constraints with the same `key` lets it be checked."),
    Rule.NOT_UTF8: (_ERROR, "Save the file as UTF-8."),
    Rule.NUL: (_WARNING, "Remove it; few tools show it."),
    Rule.PROVES_NOTHING: (_WARNING, "Add a command that fails until the phase is done."),
    Rule.STALE_TEXT: (_WARNING, "Check the phase against the current code, then remove the remark."),
    Rule.STATUS_DISAGREES: (_WARNING, "Tick the boxes if they are done, or mark the phase as it is."),
    Rule.TOO_MANY_PHASES: (_ERROR, "Split it into several plans."),
    Rule.UNKNOWN_DEPENDENCY: (_ERROR, ""),
    Rule.UNKNOWN_EXECUTION: (_ERROR, "Write worktree, direct, or delegate and a command."),
    Rule.UNKNOWN_STATUS: (_WARNING, "Write ✅, 🟡, ⬚, or a word: done, in progress, pending, blocked."),
    Rule.UNREADABLE_CHECK: (_ERROR, "Close its quotes and brackets; /bin/sh reads it."),
    Rule.UNTRIED_CHECK: (_WARNING, "Run it by hand once."),
}  # fmt: skip
"""Severity and advice of each rule; an empty advice depends on the place."""


def problem(
    line: int, rule: Rule, message: str, *, advice: str = "", severity: Severity | None = None
) -> Problem:
    """Return a problem with the usual severity and advice of its rule, unless others are given."""
    usual, usual_advice = _USUAL[rule]
    return Problem(line, severity or usual, rule, message, advice or usual_advice)
