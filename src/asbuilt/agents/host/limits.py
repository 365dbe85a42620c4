"""Decide when an attempt is over although its agent has not ended. Pure: it is told the time, it never looks.

The one rule: only ticks of the host's own count, so a laptop that slept for a night expires nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.ports import Ending

_TICKS_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long, in seconds of ticks."""

    tick_s: float
    stall_s: float
    overall_s: float
    abandon_s: float


class Watch:
    """Counts ticks since the last beat, the last event and the start."""

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
        """Count one tick; give the ending and its reason when the attempt is over. First match wins."""
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
