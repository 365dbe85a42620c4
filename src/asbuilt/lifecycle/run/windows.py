"""When may a run begin something? A window of the day, over midnight if need be. Pure.

The one rule: what is begun is brought to its end; only what is not begun waits for the window.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.run.moves import Begin, Start, Wait
from asbuilt.lifecycle.run.timers import moment, written
from asbuilt.settings.hours import hours_in

if TYPE_CHECKING:
    from datetime import time

    from msgspec import UnsetType

    from asbuilt.events.options import Between, RunOptions
    from asbuilt.lifecycle.run.moves import Move

_TIMES: Final = 3


class Window(NamedTuple):
    """The hours of a day in which a run may begin a phase, by the clocks of a zone."""

    opens: time
    closes: time
    zone: str

    @property
    def words(self) -> str:
        """Say it as people write it: `22:00-07:00`."""
        return f"{self.opens:%H:%M}-{self.closes:%H:%M}"

    def opens_at(self, now: str) -> str | None:
        """Say when it opens next; None while it is open."""
        clock = self._here(now).time()
        if self.opens < self.closes:
            is_open = self.opens <= clock < self.closes
        else:
            is_open = clock >= self.opens or clock < self.closes
        return None if is_open else written(self._next_opening(now))

    def closes_at(self, now: str) -> str | None:
        """Say when it closes next; None while it is closed."""
        return Window(self.closes, self.opens, self.zone).opens_at(now)

    def next_times(self, now: str) -> list[datetime]:
        """Give the next three times at which it opens, as the clocks of its zone show them."""
        times: list[datetime] = []
        for _ in range(_TIMES):
            times.append(self._here(written(self._next_opening(now))))
            now = written(times[-1])
        return times

    def _next_opening(self, now: str) -> datetime:
        here = self._here(now)
        day = here.date() if here.time() < self.opens else here.date() + timedelta(days=1)
        opens = datetime.combine(day, self.opens, here.tzinfo)
        # Clocks that go back may have shown this time already; then it is the second one that lies ahead.
        return opens.replace(fold=1) if opens.astimezone(UTC) <= moment(now) else opens

    def _here(self, at: str) -> datetime:
        from zoneinfo import ZoneInfo  # noqa: PLC0415 - few runs have hours, and looking loads no zones

        return moment(at).astimezone(ZoneInfo(self.zone))


def within(window: Window | None, move: Move, now: str) -> Move:
    """Let a run that would begin something wait for its window; what is begun goes on at any hour."""
    opens = window.opens_at(now) if window is not None and isinstance(move, Start | Begin) else None
    return (
        move
        if window is None or opens is None
        else Wait(WaitReason.WINDOW, f"it begins phases only {window.words}", opens)
    )


def read(text: str, zone: str) -> Window | None:
    """Read a window, `22:00-07:00`; None when it is none, or has no length."""
    span = hours_in(text)
    return None if span is None else Window(*span, zone)


def window_in(options: RunOptions) -> Window | None:
    """Read the window of a run from what was frozen into it; None: it may work at any hour."""
    return window_between(options.between)


def window_between(between: Between | UnsetType | None) -> Window | None:
    """Read a window as options have it; None: any hour."""
    return read(between.hours, between.zone) if between else None
