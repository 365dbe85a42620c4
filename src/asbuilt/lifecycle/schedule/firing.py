"""Choose what happens to a schedule that is due, or whose run ended. Pure: the order is the policy.

Rules: a slot fires at most once, and missed slots fire once together. A slot is a moment in UTC that depends
only on cadence, zone and anchor.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never
from zoneinfo import ZoneInfo

from cronsim import CronSim

from asbuilt.lifecycle.run.retry_times import moment, written
from asbuilt.lifecycle.schedule import grammar
from asbuilt.lifecycle.schedule.grammar import Cadence, Cron, DaysAt, Interval

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.working_hours import Window

_TIMES: Final = 3
COMPLETE: Final = "the plan is complete"
_ENDS: Final = {
    "failed": "its run failed",
    "stopped": "its run was stopped",
    "pr-ci-failing": "the checks of its pull request fail",
}
_DEFERRALS: Final = {1: 1, 10: 10, 16: 30, 26: 60}
"""Wait in minutes before a schedule tries again, by the first deferral to which it applies."""


class Setting(NamedTuple):
    """A schedule as requested: its cadence, its zone and its start."""

    cadence: str
    """As `grammar.write` formats it."""
    zone: str
    since: str

    def next_after(self, now: str) -> str:
        """Return its first slot after a moment, in the journal's format."""
        slot = next_after(self._read(), moment(now), ZoneInfo(self.zone), anchor=moment(self.since))
        return written(slot)

    def next_times(self, now: str, window: Window | None = None) -> list[datetime]:
        """Return the next three times at which a phase starts, in its zone.

        A slot outside the window waits for the opening; later slots until then find that run waiting.
        """
        times: list[datetime] = []
        while len(times) < _TIMES:
            slot = self.next_after(now)
            now = (None if window is None else window.opens_at(slot)) or slot
            times.append(moment(now).astimezone(ZoneInfo(self.zone)))
        return times

    @property
    def meaning(self) -> str:
        """Return its meaning in words."""
        return grammar.meaning(self._read())

    def _read(self) -> grammar.Cadence:
        match grammar.read(self.cadence):
            case grammar.Unreadable(why):
                raise ValueError(f"{self.cadence}: {why}")
            case cadence:
                return cadence


class Due(NamedTuple):
    """State of a schedule at the moment of a check."""

    setting: Setting
    slot: str
    due_at: str
    set_at: str
    """When its due time was last set."""
    has_fired: bool
    """This slot fired before the clock was set back."""
    busy: str | None
    """The phase of the plan's current run, `-` before its first phase; None: the plan has no run."""
    phase: str | None
    """The phase that deferred it last; `deferrals` counts how often."""
    deferrals: int


class Fire(NamedTuple):
    """Start a run; the next slot follows."""

    next_slot: str


class Pass(NamedTuple):
    """Wait for the next slot."""

    next_slot: str


class Defer(NamedTuple):
    """Try again later: the plan has a run."""

    phase: str
    number: int
    until: str


class Rest(NamedTuple):
    """The schedule is not due."""


Answer = Fire | Pass | Defer | Rest


def answer(due: Due, now: str) -> Answer:
    """Choose what a schedule does now. First match wins."""
    is_put_back = now < due.set_at
    if is_put_back and now < due.slot:
        # While the clock was ahead, slots were skipped that are still to come.
        return Pass(due.setting.next_after(now))
    if now < due.due_at and not is_put_back:
        return Rest()
    if due.has_fired:
        return Pass(due.setting.next_after(due.slot))
    if due.busy is not None:
        number = due.deferrals + 1 if due.phase == due.busy else 1
        return Defer(due.busy, number, deferred_until(number, now))
    return Fire(due.setting.next_after(now))


def ends_with(state: str, *, is_complete: bool) -> str | None:
    """Return why a schedule ends with a run that ended; None if it continues."""
    return _ENDS.get(state) or (COMPLETE if is_complete else None)


def is_deferral_shown(number: int) -> bool:
    """Return whether a deferral is reported: only when the wait becomes longer."""
    return number in _DEFERRALS


def deferral_min(number: int) -> int:
    """Return the minutes that a schedule waits after a number of deferrals by the same phase."""
    return _DEFERRALS[max(began for began in _DEFERRALS if began <= number)]


def deferred_until(number: int, now: str) -> str:
    """Return when a schedule tries again after a number of deferrals."""
    return written(moment(now) + timedelta(minutes=deferral_min(number)))


def next_after(cadence: Cadence, after: datetime, zone: tzinfo, *, anchor: datetime) -> datetime:
    """Return the first slot after a moment, in UTC; intervals count from `anchor`.

    A time that the clocks skip fires right after the gap; a time that they show twice fires once.
    """
    if isinstance(cadence, Interval):
        step = timedelta(minutes=cadence.minutes)
        # With a clock set back before the anchor the slots stay the same; the anchor itself is no slot.
        return anchor + ((after - anchor) // step + 1 or 1) * step
    # In the hour that the clocks repeat, cronsim yields past slots again.
    found = (slot.astimezone(UTC) for slot in CronSim(_expression(cadence), after.astimezone(zone)))
    return next(slot for slot in found if slot > after)


def _expression(cadence: DaysAt | Cron) -> str:
    match cadence:
        case DaysAt(days, hour, minute):
            return f"{minute} {hour} * * {','.join(str(day + 1) for day in days)}"
        case Cron(expression):
            return expression
        case _:
            assert_never(cadence)
