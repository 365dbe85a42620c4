"""Set, fire and end schedules of plans. Rule: each change of a schedule is one transaction."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple, assert_never
from zoneinfo import ZoneInfoNotFoundError

from msgspec import structs

from asbuilt.errors import StoreFailed
from asbuilt.events.options import RunOptions
from asbuilt.flows.requests import Asker, Declined, enter, kinds_in
from asbuilt.flows.run import environment
from asbuilt.flows.run.record import ACTOR
from asbuilt.journal import claims, schedules
from asbuilt.journal.events import hold, open_plan
from asbuilt.journal.home import Home, machine
from asbuilt.journal.ids import Address, new_id
from asbuilt.journal.runs import Run
from asbuilt.journal.schedules import Schedule
from asbuilt.lifecycle.schedule import firing
from asbuilt.lifecycle.schedule.firing import Defer, Due, Fire, Pass, Rest, Setting

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Store


class Asked(NamedTuple):
    """A new schedule, and the one that it replaced."""

    schedule: Schedule
    before: Schedule | None


def schedule(  # noqa: PLR0913 - a schedule has these parts
    store: Store,
    home: Home,
    address: Address,
    *,
    slug: str,
    cadence: str,
    zone: str,
    options: RunOptions,
    asker: Asker,
) -> Asked:
    """Schedule a plan, in place of any schedule that it has; the first run is at the next slot."""
    with store.write() as session:
        open_plan(session, address, slug)
        hold(session, address)
        environment.keep(room_of(home, address), asker.environ, kinds_in(options), options=options)
        now = session.now
        slot = Setting(cadence, zone, now).next_after(now)
        wanted = Schedule(
            *address, new_id(), slug, cadence, zone, options, asker.actor, since=now, slot=slot, due_at=slot,
            set_at=now,
        )  # fmt: skip
        return Asked(wanted, schedules.set_(session, wanted))


def cancel(store: Store, home: Home, address: Address, *, reason: str, asker: Asker) -> Schedule | None:
    """Delete the schedule of a plan; None if it has none."""
    with store.write() as session:
        found = schedules.end(session, address, reason=reason, actor=asker.actor)
    clear(store, home, address)
    return found


def clear(store: Store, home: Home, address: Address) -> None:
    """Delete the environment kept for a schedule's runs, unless the plan has a schedule. Idempotent.

    The plan is locked meanwhile: a new schedule writes the environment before its row is visible.
    """
    room = room_of(home, address)
    if not room.exists():
        return
    with store.write() as session:
        hold(session, address)
        if schedules.find(session, address) is None:
            shutil.rmtree(room, ignore_errors=True)


def setting_of(timer: Schedule) -> Setting:
    """Return the cadence, zone and start of a schedule."""
    return Setting(timer.cadence, timer.zone, timer.since)


def room_of(home: Home, address: Address) -> Path:
    """Return the folder with the environment that the runs of a plan's schedule may see."""
    return home.schedules / hashlib.sha256("\0".join(address).encode("utf-8", "surrogateescape")).hexdigest()


class Schedules:
    """The schedules that one worker fires."""

    def __init__(self, store: Store, home: Home, *, org: str, machine: str | None = None) -> None:
        """Keep the parts. `machine` limits it to one machine's repositories on a shared database."""
        self._store = store
        self._home = home
        self._org = org
        self._machine = machine

    def is_due(self, session: Session) -> bool:
        """Return whether any schedule is due."""
        return bool(schedules.to_look_at(session, self._org, machine=self._machine, limit=1))

    def is_any(self, session: Session) -> bool:
        """Return whether any schedule needs a worker."""
        return schedules.is_any(session, self._org, machine=self._machine)

    def fire(self) -> list[Run]:
        """Start a run for every plan that is due; return the runs."""
        with self._store.read() as session:
            due = schedules.to_look_at(session, self._org, machine=self._machine)
        fired = [self._look_at(scheduled.address) for scheduled in due]
        return [run for run in fired if run is not None]

    def _look_at(self, address: Address) -> Run | None:
        """Fire, defer or pass one schedule, with the plan locked."""
        with self._store.write() as session:
            hold(session, address)
            timer = schedules.find(session, address)
            if timer is None:
                return None
            claim = claims.find(session, address)
            due = Due(
                setting_of(timer), timer.slot, timer.due_at, timer.set_at,
                schedules.has_fired(session, timer), busy=None if claim is None else claim.phase or "-",
                phase=timer.phase, deferrals=timer.deferrals,
            )  # fmt: skip
            answer: firing.Answer | None = None
            try:
                answer = firing.answer(due, session.now)
            except (ValueError, ZoneInfoNotFoundError) as error:
                # End the schedule with a reason instead of stalling; the worker continues with the others.
                reason = f"its next time cannot be computed here: {error}"
                schedules.end(session, address, reason=reason, actor=ACTOR)
            match answer:
                case Fire(next_slot):
                    return self._send_off(session, timer, next_slot)
                case Defer(phase, number, until):
                    schedules.defer(session, timer, phase=phase, number=number, until=until)
                case Pass(next_slot):
                    schedules.wait_for(session, timer, next_slot)
                case Rest() | None:
                    pass
                case never:
                    assert_never(never)
        if answer is None:
            clear(self._store, self._home, address)
        return None

    def _send_off(self, session: Session, timer: Schedule, next_slot: str) -> Run:
        run, host = new_id(), machine()
        try:
            environment.hand_on(room_of(self._home, timer.address), self._home.runs / run)
        except OSError as error:
            raise StoreFailed(
                f"the run that {timer.slug} is scheduled for has no folder: {error.strerror or error}",
                why="The folder has the environment variables that the run may read.",
                next_step=f"`df -h {quote(str(self._home.path))}`; the schedule still fires afterwards.",
            ) from error
        options = structs.replace(timer.options, host=host)
        sent = enter(
            session,
            timer.address,
            run=run,
            slug=timer.slug,
            options=options,
            asker=Asker(timer.actor, host, {}),
        )
        match sent:
            case Declined(claim, _):
                # The plan's head row is locked and had no claim, so no other run can have claimed it.
                raise LookupError(claim.run)
            case _:
                schedules.fire(session, timer, run=run, next_slot=next_slot)
                return sent
