"""Facts of a run that lands work that earlier runs proved."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.delivery.fold import hear_delivery, take_delivery
from asbuilt.lifecycle.run.fold import fold_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunKind, RunOptions


class LandingFacts(DeliveryFacts):
    """A landing that the user asked for."""

    kind: ClassVar[RunKind] = "land"


def fold_landing(run: str, options: RunOptions, entries: Iterable[Entry]) -> LandingFacts:
    """Fold the events of one landing, in order."""
    facts = LandingFacts(run)
    take_delivery(facts, options)
    return fold_run(facts, entries, lambda facts, entry: hear_delivery(facts, entry.event))
