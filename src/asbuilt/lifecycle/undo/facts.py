"""Facts of a run that reverts the work of another run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Landed, Work
from asbuilt.lifecycle.delivery.fold import hear_delivery, take_delivery

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunKind, RunOptions


class UndoFacts(DeliveryFacts):
    """An undo."""

    kind: ClassVar[RunKind] = "undo"
    of: str | None = None
    """The run whose work is reverted."""
    undoes: tuple[Landed, ...] = ()
    drops: tuple[Work, ...] = ()
    """Work that the run proved and did not land."""


def begin_undo(run: str, options: RunOptions) -> UndoFacts:
    """Return the facts of an undo before its first event."""
    facts = UndoFacts(run)
    take_delivery(facts, options)
    return facts


def hear_undo(facts: UndoFacts, entry: Entry) -> None:
    """Fold one event."""
    hear_delivery(facts, entry.event)
    if isinstance(entry.event, RunStarted):
        facts.of = entry.event.of
        facts.undoes = tuple(Landed(*one) for one in entry.event.undoes)
        facts.drops = tuple(Work(*work) for work in entry.event.drops)
