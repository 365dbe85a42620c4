"""What a plan says, as frozen values. Every fact carries the line that it was read from.

Leaves are named tuples: a frozen dataclass costs three times as much to define, at every start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from asbuilt.plan.markdown.frontmatter import FrontMatter
    from asbuilt.plan.markdown.source import Source, Span
    from asbuilt.plan.problems import Problem


class Status(StrEnum):
    """What a plan's own marks say of a phase. The journal, not the file, knows what was proven."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class Format(StrEnum):
    """The ways in which people write plans."""

    TRACKER = "tracker"
    SECTIONS = "sections"
    CHECKLIST = "checklist"
    NARRATIVE = "narrative"
    TASK = "task"


Execution = Literal["worktree", "direct", "delegate"]
Form = Literal["range", "at_most", "at_least", "about", "exactly"]


class Box(NamedTuple):
    """A tick box in the file: the character between its brackets is all that a mark changes."""

    span: Span
    mark: str
    tail: Span
    """Where a commit hash in parentheses stands or would stand: the end of the item's first line."""

    @property
    def is_ticked(self) -> bool:
        """Tell whether it says done."""
        return self.mark in "xX"


class WorkItem(NamedTuple):
    """One thing a phase promises, judged on its own."""

    text: str
    done: bool
    line: int
    """1-based line in the plan file, so every message can point at it."""
    box: Box | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether somebody still has to do it: neither ticked nor struck."""
        return not self.done and (self.box is None or self.box.mark != "-")


class Claim(NamedTuple):
    """A number that a criterion states, and what the plan's own arithmetic makes of it."""

    form: Form
    low: int | None
    high: int | None
    derived: int | None
    drift_pct: int | None
    rule: str | None
    """The derivation as the plan words it, e.g. `52 - 4 + 9`."""
    stated: Span
    """The literal in the file that a correction replaces."""


class Criterion(NamedTuple):
    """One condition under which a phase counts as done."""

    text: str
    done: bool
    line: int
    claim: Claim | None = None
    box: Box | None = None


class Check(NamedTuple):
    """A command that a plan orders to be run."""

    command: str
    line: int


class Spot(NamedTuple):
    """The place in the file where a phase's status stands, and the manner in which it is written there."""

    kind: Literal["cell", "bracket", "glyph", "line"]
    span: Span
    text: str


class TrackerRow(NamedTuple):
    """A phase's row in the progress tracker; a missing cell has no span and is appended when it is needed."""

    line: int
    status: Span | None
    commit: Span | None
    note: Span | None
    has_commit: bool
    has_note: bool
    status_text: str


class Dependencies(NamedTuple):
    """What a phase waits for."""

    on: tuple[str, ...]
    stated: bool
    """False: the plan says nothing, so the phase waits for every earlier one."""


class Phase(NamedTuple):
    """A unit of a plan that is run, proven and marked on its own."""

    id: str
    title: str
    status: Status
    commit: str | None
    depends_on: Dependencies
    touches_ui: bool
    execution: Execution
    delegate: str | None
    work_items: tuple[WorkItem, ...]
    criteria: tuple[Criterion, ...]
    checks: tuple[Check, ...]
    span: Span
    lines: tuple[int, int]
    intent: str
    heading_after: int | None
    """0-based line after the phase's heading, where a status line may be put; None without a heading."""
    spot: Spot | None
    """Where its status stands; None when only boxes, another document or nothing at all states it."""
    line_spot: Spot | None
    """Its status line, which may stand beside a heading's bracket and then carries the commit."""
    row: TrackerRow | None

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Return the boxes of its work items: where its status lives when nothing else states it."""
        return tuple(item.box for item in self.work_items if item.box is not None)


class Metadatum(NamedTuple):
    """A `- **Key**: value` line in the block under a task plan's title."""

    key: str
    value: str
    line: int
    """0-based, as every place that an edit needs."""
    after: int
    """The line after its last one: a bullet may go on below."""


class Count(NamedTuple):
    """So many of so many."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        """Return whole percent, rounded down: 100 means all."""
        return 100 * self.done // self.total if self.total else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan document as it was read, with everything that can be told from its text."""

    source: Source = field(repr=False, compare=False)
    front: FrontMatter = field(repr=False, compare=False)
    metadata: tuple[Metadatum, ...] = field(repr=False, compare=False)
    title: str
    format: Format
    status: str | None
    issues: tuple[int, ...]
    digest: str
    intent: str
    phases: tuple[Phase, ...]
    waves: tuple[tuple[str, ...], ...]
    next: str | None
    progress: Count
    items: Count
    current: str | None
    checks: tuple[Check, ...]
    companion: str | None
    sections: tuple[str, ...]
    problems: tuple[Problem, ...]

    def verbatim(self, phase: Phase) -> bytes:
        """Return the exact bytes of a phase's section: never summarised, never re-wrapped."""
        return self.source.slice(phase.span)
