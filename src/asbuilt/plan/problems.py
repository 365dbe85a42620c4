"""Problems of plans: rules, severities, and a problem on a line."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """Severity of a problem: an error stops a run, a warning is shown, an info is shown on request."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Rule(StrEnum):
    """Rules for plans; docs/plans.md explains each."""

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
