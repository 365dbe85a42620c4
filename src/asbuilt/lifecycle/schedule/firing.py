"""What becomes of a schedule that is due, and of one whose run is over. Pure: the order is the policy.

The one rule: a slot fires at most once, and slots that were missed become one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from zoneinfo import ZoneInfo

from asbuilt.lifecycle.run.timers import deferrals_told, deferred_until, moment, written
from asbuilt.lifecycle.schedule import grammar

if TYPE_CHECKING:
    from datetime import datetime

    from asbuilt.lifecycle.run.windows import Window

_TIMES: Final = 3
COMPLETE: Final = "the plan is complete"
_ENDS: Final = {
    "failed": "its run failed",
    "stopped": "its run was stopped",
    "pr-ci-failing": "the checks of its pull request fail",
}


class Setting(NamedTuple):
    """A schedule as it was asked for: what it means, in which zone, since when."""

    cadence: str
    """As `timing.write` has it."""
    zone: str
    since: str

    def next_after(self, now: str) -> str:
        """Give its first slot behind a moment, as the journal writes times."""
        slot = grammar.next_after(self._read(), moment(now), ZoneInfo(self.zone), anchor=moment(self.since))
        return written(slot)

    def next_times(self, now: str, window: Window | None = None) -> list[datetime]:
        """Give the next three times at which a phase begins, as the clocks of its zone show them.

        A slot outside the window waits for its opening, and slots until then find that run waiting.
        """
        zone = ZoneInfo(self.zone)
        if window is None:
            return grammar.next_times(self._read(), moment(now), zone, anchor=moment(self.since))
        times: list[datetime] = []
        while len(times) < _TIMES:
            slot = self.next_after(now)
            now = window.opens_at(slot) or slot
            times.append(moment(now).astimezone(zone))
        return times

    @property
    def meaning(self) -> str:
        """Say what it means."""
        return grammar.meaning(self._read())

    def _read(self) -> grammar.Cadence:
        match grammar.read(self.cadence):
            case grammar.Unreadable(why):
                raise ValueError(f"{self.cadence}: {why}")
            case cadence:
                return cadence


class Due(NamedTuple):
    """What is known of a schedule in the moment somebody looks at it."""

    setting: Setting
    slot: str
    due_at: str
    set_at: str
    """When it was last decided when it is due."""
    has_fired: bool
    """This very slot has, before the clock was put back."""
    busy: str | None
    """The phase that a run of the plan works on, `-` before its first one; None: no run has the plan."""
    phase: str | None
    """The phase by which it was deferred last, and how often."""
    deferrals: int


class Fire(NamedTuple):
    """Send a run off; the next slot comes after it."""

    next_slot: str


class Pass(NamedTuple):
    """Do nothing but wait for the next slot."""

    next_slot: str


class Defer(NamedTuple):
    """Look again later: a run has the plan."""

    phase: str
    number: int
    until: str
    is_told: bool


class Rest(NamedTuple):
    """It is not due."""


Answer = Fire | Pass | Defer | Rest


def answer(due: Due, now: str) -> Answer:
    """Choose what becomes of a schedule now. First match wins."""
    is_put_back = now < due.set_at
    if is_put_back and now < due.slot:
        # While the clock was ahead slots were passed over that come only now.
        return Pass(due.setting.next_after(now))
    if now < due.due_at and not is_put_back:
        return Rest()
    if due.has_fired:
        return Pass(due.setting.next_after(due.slot))
    if due.busy is not None:
        number = due.deferrals + 1 if due.phase == due.busy else 1
        return Defer(due.busy, number, deferred_until(number, now), deferrals_told(number))
    return Fire(due.setting.next_after(now))


def ends_with(state: str, *, is_complete: bool) -> str | None:
    """Say why a schedule is over with a run that ended; None when it goes on."""
    return _ENDS.get(state) or (COMPLETE if is_complete else None)
