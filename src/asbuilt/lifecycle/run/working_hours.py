"""Hours of the day in which a run may start work; may span midnight. Pure.

Rule: started work is finished at any hour; only work that has not started waits for the window.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UnsetType

from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.run.moves import Begin, Move, Start, Wait
from asbuilt.lifecycle.run.retry_times import moment, written
from asbuilt.settings.hours import hours_in

if TYPE_CHECKING:
    from asbuilt.events.options import Between

_TIMES: Final = 3


class Window(NamedTuple):
    """Hours of a day in which a run may start a phase, in a time zone."""

    opens: time
    closes: time
    zone: str

    @property
    def words(self) -> str:
        """Return it as written: `22:00-07:00`."""
        return f"{self.opens:%H:%M}-{self.closes:%H:%M}"

    def opens_at(self, now: str) -> str | None:
        """Return when it opens next; None while it is open."""
        clock = self._here(now).time()
        if self.opens < self.closes:
            is_open = self.opens <= clock < self.closes
        else:
            is_open = clock >= self.opens or clock < self.closes
        return None if is_open else written(self._next_opening(now))

    def closes_at(self, now: str) -> str | None:
        """Return when it closes next; None while it is closed."""
        return Window(self.closes, self.opens, self.zone).opens_at(now)

    def next_times(self, now: str) -> list[datetime]:
        """Return the next three opening times, in its zone."""
        times: list[datetime] = []
        for _ in range(_TIMES):
            times.append(self._here(written(self._next_opening(now))))
            now = written(times[-1])
        return times

    def _next_opening(self, now: str) -> datetime:
        here = self._here(now)
        day = here.date() if here.time() < self.opens else here.date() + timedelta(days=1)
        opens = datetime.combine(day, self.opens, here.tzinfo)
        # When clocks go back, this time may already have passed once; then the second occurrence is meant.
        return opens.replace(fold=1) if opens.astimezone(UTC) <= moment(now) else opens

    def _here(self, at: str) -> datetime:
        from zoneinfo import ZoneInfo  # noqa: PLC0415 - few runs have hours, and looking loads no zones

        return moment(at).astimezone(ZoneInfo(self.zone))


def within(window: Window | None, move: Move, now: str) -> Move:
    """Delay a move that starts work until the window opens; other moves pass at any hour."""
    opens = window.opens_at(now) if window is not None and isinstance(move, Start | Begin) else None
    return (
        move
        if window is None or opens is None
        else Wait(WaitReason.WINDOW, f"phases start only {window.words}", opens)
    )


def read(text: str, zone: str) -> Window | None:
    """Parse a window, `22:00-07:00`; None if the text is none, or has no length."""
    span = hours_in(text)
    return None if span is None else Window(*span, zone)


def window_in(between: Between | UnsetType | None) -> Window | None:
    """Return the window of an option; None: any hour."""
    return read(between.hours, between.zone) if between else None
