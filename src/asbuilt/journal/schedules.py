"""Schedules of plans: one row per plan. Rule: it changes only together with the event that records it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.events import schedules as events
from asbuilt.events.event import Entry
from asbuilt.events.options import RunOptions
from asbuilt.journal.database.table import OF_PLAN, Table, insert
from asbuilt.journal.encoding.codec import options_of, options_text
from asbuilt.journal.events import append, hold, keyed, of_kinds
from asbuilt.journal.ids import Address
from asbuilt.journal.repositories import worked_in

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session


class Schedule(NamedTuple):
    """A schedule, and when it is due next."""

    org: str
    repo: str
    plan: str
    schedule: str
    """Id; changes whenever the cadence changes."""
    slug: str
    cadence: str
    zone: str
    options: RunOptions
    """Options of its runs, frozen when it was requested."""
    actor: str
    since: str
    slot: str
    """The next or deferred time of its cadence."""
    due_at: str
    set_at: str
    phase: str | None = None
    """Phase of the run that deferred the slot last; `deferrals` counts how often."""
    deferrals: int = 0

    @property
    def address(self) -> Address:
        """Return the plan's address."""
        return Address(self.org, self.repo, self.plan)


class Over(NamedTuple):
    """The end of a plan's last schedule."""

    at: str
    reason: str


def _schedule(*, options: str, **row: Any) -> Schedule:  # noqa: ANN401 - columns
    return Schedule(**row, options=options_of(options))


_SCHEDULES: Final = Table("schedules", _schedule, Schedule._fields)


def set_(session: Session, wanted: Schedule) -> Schedule | None:
    """Replace a plan's schedule; return the old one."""
    hold(session, wanted.address)
    before = find(session, wanted.address)
    _delete(session, wanted.address)
    insert(session, "schedules", **wanted._asdict() | {"options": options_text(wanted.options)})
    event = events.ScheduleSet(cadence=wanted.cadence, zone=wanted.zone, next=wanted.slot)
    append(session, wanted.address, event, key=f"schedule/{wanted.schedule}/set", actor=wanted.actor)
    session.wake()
    return before


def end(session: Session, address: Address, *, reason: str, actor: str) -> Schedule | None:
    """Delete a plan's schedule; return it, or None if there is none."""
    hold(session, address)
    found = find(session, address)
    if found is not None:
        _delete(session, address)
        event = events.ScheduleEnded(reason=reason[:500])
        append(session, address, event, key=f"schedule/{found.schedule}/ended", actor=actor)
    return found


def has_fired(session: Session, schedule: Schedule) -> bool:
    """Return whether any schedule of the plan has requested a run at this slot."""
    return keyed(session, schedule.address, _fired(schedule.slot)) is not None


def fire(session: Session, schedule: Schedule, *, run: str, next_slot: str) -> None:
    """Record that a slot has requested a run, and set the next slot."""
    _move(session, schedule, slot=next_slot, due_at=next_slot)
    event, key = events.ScheduleFired(slot=schedule.slot, next=next_slot), _fired(schedule.slot)
    append(session, schedule.address, event, key=key, actor=schedule.actor, run=run)


def wait_for(session: Session, schedule: Schedule, slot: str) -> None:
    """Move a schedule to another slot, because the clock was set back or its slot has fired already."""
    _move(session, schedule, slot=slot, due_at=slot)
    if slot != schedule.slot:
        event = events.ScheduleMoved(before=schedule.slot, next=slot)
        key = f"schedule/{schedule.schedule}/moved/{session.now}"
        append(session, schedule.address, event, key=key, actor=schedule.actor)


def defer(session: Session, schedule: Schedule, *, phase: str, number: int, until: str) -> None:
    """Defer a slot, because a run has the plan."""
    _move(session, schedule, slot=schedule.slot, due_at=until, phase=phase, deferrals=number)
    event = events.ScheduleDeferred(phase=phase, number=number, until=until)
    key = f"schedule/{schedule.schedule}/deferred/{schedule.slot}/{phase}/{number}"
    append(session, schedule.address, event, key=key, actor=schedule.actor)


def find(session: Session, address: Address) -> Schedule | None:
    """Return the schedule of a plan."""
    return _SCHEDULES.first(session, OF_PLAN, **address._asdict())


def over(session: Session, address: Address, *, since: str = "") -> Over | None:
    """Return how the schedule of a plan ended; None if the plan has one, or it ended before `since`."""
    entries = of_kinds(session, address, [events.ScheduleSet.kind, events.ScheduleEnded.kind])
    match entries[-1:]:
        case [Entry(at=at, event=events.ScheduleEnded(reason=reason))] if at >= since:
            return Over(at, reason)
        case _:
            return None


def every(session: Session, org: str, repo: str | None = None, *, limit: int = 200) -> list[Schedule]:
    """List the schedules of a repository, or of all, the next one first."""
    where = f"org = :org{'' if repo is None else ' AND repo = :repo'} ORDER BY due_at, plan LIMIT :limit"
    return _SCHEDULES.every(session, where, org=org, repo=repo, limit=limit)


def to_look_at(session: Session, org: str, *, machine: str | None, limit: int = 100) -> list[Schedule]:
    """List schedules that are due, and those set at a time that is in the future now (clock set back)."""
    due = f"org = :org AND (due_at <= :now OR set_at > :now){worked_in('schedules', machine)} LIMIT :limit"
    return _SCHEDULES.every(session, due, org=org, machine=machine, now=session.now, limit=limit)


def is_any(session: Session, org: str, *, machine: str | None) -> bool:
    """Return whether anything is scheduled."""
    return _SCHEDULES.has(session, f"org = :org{worked_in('schedules', machine)}", org=org, machine=machine)


def _fired(slot: str) -> str:
    return f"schedule/fired/{slot}"


def _move(session: Session, schedule: Schedule, **to: str | int | None) -> None:
    session.run(
        "UPDATE schedules SET slot = :slot, due_at = :due_at, set_at = :now, phase = :phase,"
        f" deferrals = :deferrals WHERE {OF_PLAN}",
        **{"phase": None, "deferrals": 0, **schedule.address._asdict(), **to},
        now=session.now,
    )


def _delete(session: Session, address: Address) -> None:
    session.run(f"DELETE FROM schedules WHERE {OF_PLAN}", **address._asdict())
