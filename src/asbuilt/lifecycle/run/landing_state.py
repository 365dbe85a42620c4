"""State of a landing: intended, landed or refused, folded from its events."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from asbuilt.events import landings
from asbuilt.events.event import Event
from asbuilt.events.runs import RunParked, TroubleMet, WaitReason


class LandingState(Struct):
    """The last landing of a run."""

    state: Literal["intended", "landed", "refused"] | None = None
    reason: str = ""
    next_step: str = ""
    other: str = ""
    """An alternative to the next step."""
    intent: landings.LandingIntended | None = None
    """The intention; an interrupted landing is recovered from it."""
    tip: str | None = None
    """The target's tip after the landing."""
    had_it: bool = False
    """The target had all of it already; nothing moved."""
    tidied: bool = False
    line: landings.LandingQueued | None = None
    """Its place in the line of the branch, while it waits there."""


def fold_landing(landing: LandingState, event: Event) -> None:
    """Fold one event."""
    match event:
        case landings.LandingQueued():
            landing.line = event
        case landings.LandingTurn() | TroubleMet(phase=None):
            landing.line = None
        case RunParked(reason=reason, phase=None) if reason is not WaitReason.LANDING:
            # It gave up its place when it parked.
            landing.line = None
        case landings.LandingIntended():
            landing.state, landing.intent = "intended", event
        case landings.LandingDone():
            landing.state, landing.tip, landing.had_it = "landed", event.new, event.by_hand
        case landings.LandingRefused():
            landing.state, landing.reason = "refused", f"{event.what} {event.why}".strip()
            landing.next_step, landing.other = event.next, event.other
        case landings.LandingTidied():
            landing.tidied = True
