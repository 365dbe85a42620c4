"""Results that agents submit for authoring stages and tasks, and how they are judged."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Event, OfAttempt


class StageJudged(OfAttempt, frozen=True, kw_only=True):
    """The result of a stage was judged; `outcome` decides which of the other fields are used."""

    kind: ClassVar[str] = "stage.judged"
    elsewhere: ClassVar[str] = "details"
    outcome: str
    """accepted, refused, asks, proposed or gave_up."""
    stage: str = ""
    round: int = 0
    text: str = ""
    finished: str | None = None
    due: str | None = None
    left_out: tuple[str, ...] = ()
    flaws: str = ""
    why: str = ""
    about: tuple[str, ...] = ()
    """What the flaws of the last refused output are about."""
    proposals: str = ""
    many: int = 0
    details: str = ""
    asks: tuple[tuple[str, str], ...] = ()
    answers: tuple[tuple[str, str, str], ...] = ()


class TaskJudged(OfAttempt, frozen=True, kw_only=True):
    """The result of a task was judged."""

    kind: ClassVar[str] = "task.judged"
    task: int
    outcome: str
    why: str = ""
    path: str = ""
    text: str = ""
    summary: str = ""
    phases: tuple[str, ...] = ()
    count: int = 0
    hours: float | None = None
    warnings: int = 0


class TaskPosted(Event, frozen=True, kw_only=True):
    """The result of a task was written to the ledger."""

    kind: ClassVar[str] = "task.posted"
    task: int
    status: str
