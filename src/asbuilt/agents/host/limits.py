"""Decide when the host ends an attempt. Pure: takes the elapsed time as an argument.

Rule: a tick counts as at most 4 tick intervals, so that a suspended laptop expires nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.ports import Ending

_TICKS_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits in seconds of counted ticks."""

    tick_s: float
    stall_s: float
    overall_s: float
    abandon_s: float


class Watch:
    """Counts time since the last heartbeat, the last event and the start."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._beat: object = None
        self._events = 0
        self._since_beat = 0.0
        self._since_event = 0.0
        self._since_start = 0.0

    def tick(
        self, elapsed_s: float, *, beat: object, events: int, cancelled: bool
    ) -> tuple[Ending, str] | None:
        """Count one tick; return the ending and its reason when the attempt is over. First match wins."""
        counted = min(elapsed_s, _TICKS_AT_ONCE * self._limits.tick_s)
        self._since_start += counted
        self._since_beat = 0.0 if beat != self._beat else self._since_beat + counted
        self._since_event = 0.0 if events != self._events else self._since_event + counted
        self._beat, self._events = beat, events
        limits = self._limits
        if cancelled:
            return "cancelled", "It was asked to end."
        if self._since_beat >= limits.abandon_s:
            return "abandoned", f"Nobody has waited for it for {limits.abandon_s:g} s."
        if self._since_start >= limits.overall_s:
            return "timed_out", f"It took longer than {limits.overall_s:g} s."
        if self._since_event >= limits.stall_s:
            return "stalled", f"Nothing was heard of the agent for {limits.stall_s:g} s."
        return None
