"""Facts of a run that lands work that earlier runs proved."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.delivery.fold import take_delivery

if TYPE_CHECKING:
    from asbuilt.events.options import RunKind, RunOptions


class LandingFacts(DeliveryFacts):
    """A landing that the user asked for."""

    kind: ClassVar[RunKind] = "land"


def begin_landing(run: str, options: RunOptions) -> LandingFacts:
    """Return the facts of a landing before its first event."""
    facts = LandingFacts(run)
    take_delivery(facts, options)
    return facts
