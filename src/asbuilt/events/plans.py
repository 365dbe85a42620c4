"""What happens to the text of a plan: drafts, approvals of them, marks and notes."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Event


class DraftWritten(Event, frozen=True, kw_only=True):
    """A revision of a plan's text."""

    kind: ClassVar[str] = "draft.written"
    number: int
    intent: str
    digest: str
    text: str
    by: str
    label: str = ""


class DraftTried(Event, frozen=True, kw_only=True):
    """The checks of a draft have run before any work."""

    kind: ClassVar[str] = "draft.tried"
    number: int
    rows: str
    told: str = ""


class AnswerTaken(Event, frozen=True, kw_only=True):
    """An answer to an earlier authoring's question holds for this one too."""

    kind: ClassVar[str] = "answer.taken"
    name: str
    intent: str
    revision: int
    is_again: bool = False
    answer: str | None = None
    note: str = ""


class PlanApproved(Event, frozen=True, kw_only=True):
    """A person said yes to a text."""

    kind: ClassVar[str] = "plan.approved"
    intent: str
    digest: str
    text: str
    by: str
    edited: bool = False


class PlanCarried(Event, frozen=True, kw_only=True):
    """An approval holds for the text in which numbers were corrected."""

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
    """A person wants a plan to say something else."""

    kind: ClassVar[str] = "plan.refining"
    base: str
    change: str
    by: str = ""
    checkout: str = ""


class PlanRedrafted(Event, frozen=True, kw_only=True):
    """An agent wrote a plan anew, or tried to."""

    kind: ClassVar[str] = "plan.redrafted"
    attempt: str
    agent: str = ""
    ending: str = ""
    cost_usd: float | None = None
    tokens: int | None = None


class PlanNoted(Event, frozen=True, kw_only=True):
    """A person's note for the next attempt."""

    kind: ClassVar[str] = "plan.noted"
    note: str
    by: str = ""


class PlanDiffers(Event, frozen=True, kw_only=True):
    """The plan has changed the text of a phase since it was proven."""

    kind: ClassVar[str] = "plan.differs"
    phase: str
    point: str
    commit: str
    intent: str | None = None


class PlanCompared(Event, frozen=True, kw_only=True):
    """The plan's file was compared with what waits to be landed."""

    kind: ClassVar[str] = "plan.compared"
    point: str


class PlanMarked(Event, frozen=True, kw_only=True):
    """The plan's file says what has landed."""

    kind: ClassVar[str] = "plan.marked"


class PlanCompleted(Event, frozen=True, kw_only=True):
    """Every phase of a plan is done."""

    kind: ClassVar[str] = "plan.completed"
    gaps: tuple[str, ...] = ()
    status: str = ""
    by: str = ""
