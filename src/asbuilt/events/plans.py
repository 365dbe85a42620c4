"""Events of a plan's text: drafts, approvals, marks and notes."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Event
from asbuilt.events.questions import DiffersKey


class DraftWritten(Event, frozen=True, kw_only=True):
    """A revision of a plan's text."""

    kind: ClassVar[str] = "draft.written"
    number: int
    intent: str
    digest: str
    text: str
    by: str
    label: str = ""


class DraftSetup(Event, frozen=True, kw_only=True):
    """A setup starts, for the checks of a draft; it may take minutes."""

    kind: ClassVar[str] = "draft.setup"
    command: str


class DraftTried(Event, frozen=True, kw_only=True):
    """The checks of a draft ran before any work."""

    kind: ClassVar[str] = "draft.tried"
    number: int
    rows: str
    told: str = ""


class AnswerTaken(Event, frozen=True, kw_only=True):
    """An answer to an earlier authoring session's question was reused for this one."""

    kind: ClassVar[str] = "answer.taken"
    name: str
    intent: str
    revision: int
    is_again: bool = False
    answer: str | None = None
    note: str = ""


class PlanApproved(Event, frozen=True, kw_only=True):
    """A user approved a text."""

    kind: ClassVar[str] = "plan.approved"
    intent: str
    digest: str
    text: str
    by: str
    edited: bool = False


class PlanCarried(Event, frozen=True, kw_only=True):
    """An approval was carried over to a text with corrected numbers."""

    kind: ClassVar[str] = "plan.carried"
    of: str
    intent: str
    digest: str
    text: str


class PlanFiled(Event, frozen=True, kw_only=True):
    """An approved text was written to its file."""

    kind: ClassVar[str] = "plan.filed"
    path: str
    digest: str = ""


class PlanRefining(Event, frozen=True, kw_only=True):
    """A user requested a change of a plan."""

    kind: ClassVar[str] = "plan.refining"
    base: str
    change: str
    by: str = ""
    checkout: str = ""


class PlanRedrafted(Event, frozen=True, kw_only=True):
    """An agent rewrote a plan, or tried to."""

    kind: ClassVar[str] = "plan.redrafted"
    attempt: str
    agent: str = ""
    ending: str = ""
    cost_usd: float | None = None
    tokens: int | None = None


class PlanNoted(Event, frozen=True, kw_only=True):
    """A user's note for the next attempt."""

    kind: ClassVar[str] = "plan.noted"
    note: str
    by: str = ""


class PlanDiffers(Event, frozen=True, kw_only=True):
    """The text of a phase has changed since the phase was proven."""

    kind: ClassVar[str] = "plan.differs"
    phase: str
    point: str
    commit: str
    intent: str | None = None
    declined: bool = False
    """The user said no to it before, and has not asked for a landing since."""

    @property
    def question(self) -> DiffersKey:
        """Return the key of the question. An answer holds for this commit and this change, in every run."""
        return DiffersKey(commit=self.commit, intent=self.intent or "gone")


class PlanCompared(Event, frozen=True, kw_only=True):
    """The plan's file was compared with the work that waits to be landed."""

    kind: ClassVar[str] = "plan.compared"
    point: str


class PlanMarked(Event, frozen=True, kw_only=True):
    """Landed phases were marked in the plan's file."""

    kind: ClassVar[str] = "plan.marked"


class PlanCompleted(Event, frozen=True, kw_only=True):
    """Every phase of a plan is done."""

    kind: ClassVar[str] = "plan.completed"
    gaps: tuple[str, ...] = ()
    status: str = ""
    by: str = ""
