"""State of a landing: intended, landed or refused, folded from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from asbuilt.events.landings import LandingDone, LandingIntended, LandingRefused, LandingTidied

if TYPE_CHECKING:
    from asbuilt.events.event import Event


class LandingState(Struct):
    """The last landing of a run."""

    state: Literal["intended", "landed", "refused"] | None = None
    reason: str = ""
    next_step: str = ""
    intent: LandingIntended | None = None
    """The intention; an interrupted landing is recovered from it."""
    tip: str | None = None
    """The target's tip after the landing."""
    tidied: bool = False


def hear_landing(landing: LandingState, event: Event) -> None:
    """Fold one event."""
    match event:
        case LandingIntended():
            landing.state, landing.intent = "intended", event
        case LandingDone():
            landing.state, landing.tip = "landed", event.new
        case LandingRefused():
            landing.state, landing.reason, landing.next_step = "refused", event.what, event.next
        case LandingTidied():
            landing.tidied = True
        case _:
            pass
