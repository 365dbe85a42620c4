"""What happens to the schedule of a plan."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from asbuilt.events.event import Event


class ScheduleSet(Event, frozen=True, kw_only=True):
    """A plan is run by itself from now on."""

    kind: ClassVar[str] = "schedule.set"
    cadence: str
    zone: str
    next: str


class ScheduleEnded(Event, frozen=True, kw_only=True):
    """A plan is run by itself no more."""

    kind: ClassVar[str] = "schedule.ended"
    reason: str = ""


class ScheduleFired(Event, frozen=True, kw_only=True):
    """A schedule has asked for a run."""

    kind: ClassVar[str] = "schedule.fired"
    slot: str
    next: str | None = None


class ScheduleMoved(Event, frozen=True, kw_only=True):
    """A schedule's next time was moved."""

    kind: ClassVar[str] = "schedule.moved"
    before: str = field(name="from")
    next: str | None = None


class ScheduleDeferred(Event, frozen=True, kw_only=True):
    """A scheduled run waits for something."""

    kind: ClassVar[str] = "schedule.deferred"
    phase: str
    number: int
    until: str | None = None
