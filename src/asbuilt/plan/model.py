"""Model of a plan, as frozen values. Every fact carries the line that it was read from.

Leaves are named tuples: a frozen dataclass takes three times as long to define, at every start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from asbuilt.plan.markdown.frontmatter import FrontMatter
    from asbuilt.plan.markdown.source import Source, Span
    from asbuilt.plan.problems import Problem


class Status(StrEnum):
    """Status of a phase by the plan's own marks. The journal, not the file, records what was proven."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class Format(StrEnum):
    """Formats in which people write plans."""

    TRACKER = "tracker"
    SECTIONS = "sections"
    CHECKLIST = "checklist"
    NARRATIVE = "narrative"
    TASK = "task"


Execution = Literal["worktree", "direct", "delegate"]
Form = Literal["range", "at_most", "at_least", "about", "exactly"]


class Box(NamedTuple):
    """A check box in the file, and the place for a commit hash after it."""

    span: Span
    mark: str
    tail: Span
    """End of the item's first line, with its commit hash in parentheses; empty without a hash."""

    @property
    def is_ticked(self) -> bool:
        """Whether it is ticked."""
        return self.mark in "xX"


class WorkItem(NamedTuple):
    """One thing a phase promises, judged on its own."""

    text: str
    done: bool
    line: int
    """1-based line in the plan file, for messages."""
    box: Box | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done: neither ticked nor struck."""
        return not self.done and (self.box is None or self.box.mark != "-")


class Claim(NamedTuple):
    """A number that a criterion states, and the value that the plan's own arithmetic derives."""

    form: Form
    low: int | None
    high: int | None
    derived: int | None
    drift_pct: int | None
    rule: str | None
    """The derivation as the plan writes it, e.g. `52 - 4 + 9`."""
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
    """A command that proves a phase, or the whole plan."""

    command: str
    line: int


class Spot(NamedTuple):
    """Place and style of a phase's status in the file."""

    kind: Literal["cell", "bracket", "glyph", "line"]
    span: Span
    text: str


class TrackerRow(NamedTuple):
    """A phase's row in the progress tracker. A missing cell has no span; a mark that needs it is refused."""

    line: int
    status: Span | None
    commit: Span | None
    note: Span | None
    has_commit: bool
    has_note: bool
    status_text: str


class Dependencies(NamedTuple):
    """The phases that a phase depends on."""

    on: tuple[str, ...]
    stated: bool
    """False: the plan states nothing, so the phase depends on every earlier one."""


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
    """0-based line after the heading, where a status line can be inserted; None without a heading."""
    spot: Spot | None
    """Place of its status; None if only boxes, another document or nothing states it."""
    line_spot: Spot | None
    """Its status line. Beside a status in the heading it carries the commit."""
    row: TrackerRow | None

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes of its work items, which give the status if nothing else states it."""
        return tuple(item.box for item in self.work_items if item.box is not None)


class Metadatum(NamedTuple):
    """A `- **Key**: value` line in the block under a task plan's title."""

    key: str
    value: str
    line: int
    """0-based, like every position that an edit needs."""
    after: int
    """Line after its last line; a bullet may have several lines."""


class Count(NamedTuple):
    """A number done, of a total."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        """Percentage, rounded down; 100 means all."""
        return 100 * self.done // self.total if self.total else 0

    @classmethod
    def of(cls, done: Collection[bool]) -> Count:
        """Count those that are done."""
        return cls(done=sum(done), total=len(done))


def stated_progress(phases: Sequence[Phase], form: Format) -> Count:
    """Return the progress that a plan's text states: ticked items of a checklist, else finished phases."""
    if form is Format.CHECKLIST:
        return ticked_items(phases)
    return Count.of([phase.status is Status.DONE for phase in phases])


def ticked_items(phases: Iterable[Phase]) -> Count:
    """Count the ticked items, of all that have a box."""
    return Count.of([item.done for phase in phases for item in phase.work_items if item.box is not None])


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan document, with everything that was read from its text."""

    source: Source = field(repr=False, compare=False)
    front: FrontMatter = field(repr=False, compare=False)
    metadata: tuple[Metadatum, ...] = field(repr=False, compare=False)
    title: str
    format: Format
    status: str | None
    issues: tuple[int, ...]
    labels: tuple[str, ...]
    """Labels that a worker of a fleet must have to take its runs, from `worker:` in the front matter."""
    digest: str
    intent: str
    phases: tuple[Phase, ...]
    waves: tuple[tuple[str, ...], ...]
    next: str | None
    progress: Count
    items: Count
    current: str | None
    checks: tuple[Check, ...]
    progress_document: str | None
    """The name of the file in which the plan says that its progress is kept."""
    sections: tuple[str, ...]
    problems: tuple[Problem, ...]
    without_marks: Callable[[int], str] = field(repr=False, compare=False)
    """Return the text of a line (0-based) without its marks of progress."""

    @property
    def marked_done(self) -> frozenset[str]:
        """The phases that its text marks as done."""
        return frozenset(phase.id for phase in self.phases if phase.status is Status.DONE)

    def verbatim(self, phase: Phase) -> bytes:
        """Return the exact bytes of a phase's section."""
        return self.source.slice(phase.span)
