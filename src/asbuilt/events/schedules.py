"""Events of a plan's schedule."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from asbuilt.events.event import Event


class ScheduleSet(Event, frozen=True, kw_only=True):
    """A plan was scheduled."""

    kind: ClassVar[str] = "schedule.set"
    cadence: str
    zone: str
    next: str


class ScheduleEnded(Event, frozen=True, kw_only=True):
    """The schedule of a plan ended."""

    kind: ClassVar[str] = "schedule.ended"
    reason: str = ""


class ScheduleFired(Event, frozen=True, kw_only=True):
    """A schedule requested a run."""

    kind: ClassVar[str] = "schedule.fired"
    slot: str
    next: str | None = None


class ScheduleMoved(Event, frozen=True, kw_only=True):
    """The next time of a schedule was moved without a run."""

    kind: ClassVar[str] = "schedule.moved"
    before: str = field(name="from")
    next: str | None = None


class ScheduleDeferred(Event, frozen=True, kw_only=True):
    """A scheduled run was deferred, because another run has the plan."""

    kind: ClassVar[str] = "schedule.deferred"
    phase: str
    number: int
    until: str | None = None
