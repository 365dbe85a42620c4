"""Schedules of plans: one row per plan. Rule: it changes only together with the event that records it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.schedules import (
    ScheduleDeferred,
    ScheduleEnded,
    ScheduleFired,
    ScheduleMoved,
    ScheduleSet,
)
from asbuilt.journal.database.store import first
from asbuilt.journal.encoding.codec import options_of, options_text
from asbuilt.journal.events import append, hold, keyed
from asbuilt.journal.ids import Address
from asbuilt.journal.repositories import worked_in

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions
    from asbuilt.journal.database.store import Row, Session

_COLUMNS: Final = (
    "org, repo, plan, schedule, slug, cadence, zone, options, actor, since, slot, due_at, set_at, phase,"
    " deferrals"
)


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


def set_(session: Session, wanted: Schedule) -> Schedule | None:
    """Replace a plan's schedule; return the old one."""
    hold(session, wanted.address)
    before = find(session, wanted.address)
    _delete(session, wanted.address)
    values = wanted._asdict() | {"options": options_text(wanted.options)}
    names = ", ".join(f":{name}" for name in _COLUMNS.split(", "))
    session.run(f"INSERT INTO schedules ({_COLUMNS}) VALUES ({names})", **values)
    append(
        session,
        wanted.address,
        ScheduleSet(cadence=wanted.cadence, zone=wanted.zone, next=wanted.slot),
        key=f"schedule/{wanted.schedule}/set",
        actor=wanted.actor,
    )
    session.poke()
    return before


def end(session: Session, address: Address, *, reason: str, actor: str) -> Schedule | None:
    """Delete a plan's schedule; return it, or None if there is none."""
    hold(session, address)
    found = find(session, address)
    if found is not None:
        _delete(session, address)
        append(
            session,
            address,
            ScheduleEnded(reason=reason[:500]),
            key=f"schedule/{found.schedule}/ended",
            actor=actor,
        )
    return found


def has_fired(session: Session, schedule: Schedule) -> bool:
    """Return whether any schedule of the plan has requested a run at this slot."""
    return keyed(session, schedule.address, _fired(schedule.slot)) is not None


def fire(session: Session, schedule: Schedule, *, run: str, next_slot: str) -> None:
    """Record that a slot has requested a run, and set the next slot."""
    _move(session, schedule, slot=next_slot, due_at=next_slot, phase=None, deferrals=0)
    append(
        session,
        schedule.address,
        ScheduleFired(slot=schedule.slot, next=next_slot),
        key=_fired(schedule.slot),
        actor=schedule.actor,
        run=run,
    )


def wait_for(session: Session, schedule: Schedule, slot: str) -> None:
    """Move a schedule to another slot, because the clock was set back or its slot has fired already."""
    _move(session, schedule, slot=slot, due_at=slot, phase=None, deferrals=0)
    if slot != schedule.slot:
        append(
            session,
            schedule.address,
            ScheduleMoved(before=schedule.slot, next=slot),
            key=f"schedule/{schedule.schedule}/moved/{session.now}",
            actor=schedule.actor,
        )


def defer(session: Session, schedule: Schedule, *, phase: str, number: int, until: str) -> None:
    """Defer a slot, because a run has the plan."""
    _move(session, schedule, slot=schedule.slot, due_at=until, phase=phase, deferrals=number)
    append(
        session,
        schedule.address,
        ScheduleDeferred(phase=phase, number=number, until=until),
        key=f"schedule/{schedule.schedule}/deferred/{schedule.slot}/{phase}/{number}",
        actor=schedule.actor,
    )


def find(session: Session, address: Address) -> Schedule | None:
    """Return the schedule of a plan."""
    row = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM schedules WHERE org = :org AND repo = :repo AND plan = :plan",
            **address._asdict(),
        )
    )
    return None if row is None else _schedule(row)


def every(session: Session, org: str, repo: str | None = None, *, limit: int = 200) -> list[Schedule]:
    """List the schedules of a repository, or of all, the next one first."""
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM schedules WHERE org = :org{'' if repo is None else ' AND repo = :repo'}"
        " ORDER BY due_at, plan LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    return [_schedule(row) for row in rows]


def to_look_at(session: Session, org: str, *, machine: str | None, limit: int = 100) -> list[Schedule]:
    """List schedules that are due, and those set at a time that is in the future now (clock set back)."""
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM schedules WHERE org = :org AND (due_at <= :now OR set_at > :now)"
        f"{worked_in('schedules', machine)} LIMIT :limit",
        org=org,
        machine=machine,
        now=session.now,
        limit=limit,
    )
    return [_schedule(row) for row in rows]


def is_any(session: Session, org: str, *, machine: str | None) -> bool:
    """Return whether anything is scheduled."""
    found = session.rows(
        f"SELECT 1 FROM schedules WHERE org = :org{worked_in('schedules', machine)} LIMIT 1",
        org=org,
        machine=machine,
    )
    return bool(found)


def _fired(slot: str) -> str:
    return f"schedule/fired/{slot}"


def _move(
    session: Session, schedule: Schedule, *, slot: str, due_at: str, phase: str | None, deferrals: int
) -> None:
    session.run(
        "UPDATE schedules SET slot = :slot, due_at = :due_at, set_at = :now, phase = :phase,"
        " deferrals = :deferrals WHERE org = :org AND repo = :repo AND plan = :plan",
        **schedule.address._asdict(),
        slot=slot,
        due_at=due_at,
        phase=phase,
        deferrals=deferrals,
        now=session.now,
    )


def _delete(session: Session, address: Address) -> None:
    session.run(
        "DELETE FROM schedules WHERE org = :org AND repo = :repo AND plan = :plan", **address._asdict()
    )


def _schedule(row: Row) -> Schedule:
    return Schedule(**{**row, "options": options_of(row["options"])})
