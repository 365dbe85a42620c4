"""A run that reverts what another run has proven or landed. Pure: the order of the rules is the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.delivery.decide import brought_to_safety, land_or_wait
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Landed, Work
from asbuilt.lifecycle.delivery.pull_request import repair_under_way
from asbuilt.lifecycle.run.decide import proving_move
from asbuilt.lifecycle.run.moves import Attempt, End, Keep, Mark, Move, Tidy

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunKind


class UndoFacts(DeliveryFacts):
    """An undo."""

    kind: ClassVar[RunKind] = "undo"
    of: str | None = None
    """The run whose work is reverted."""
    undoes: tuple[Landed, ...] = ()
    drops: tuple[Work, ...] = ()
    """Work that the run proved and did not land."""

    def hear(self, entry: Entry) -> None:
        """Fold one event."""
        super().hear(entry)
        if isinstance(entry.event, RunStarted):
            self.of = entry.event.of
            self.undoes = tuple(Landed(*one) for one in entry.event.undoes)
            self.drops = tuple(Work(*work) for work in entry.event.drops)


class _Undo:
    def unsafe(self, facts: UndoFacts) -> Attempt | Keep | None:
        return brought_to_safety(repair_under_way(facts))

    def idle(self, facts: UndoFacts) -> End | None:
        if facts.way == "pr" and facts.undoes:
            return End(
                "failed", "work that landed by a pull request is reverted by another one, at the forge"
            )
        if facts.undoes or facts.drops:
            return None
        return End("done", f"nothing to undo: no proven work of run {facts.of} is left")

    def work(self, facts: UndoFacts, now: str) -> Move:
        del now
        if facts.landing.state == "refused":
            return End("failed", facts.landing.reason, facts.landing.next_step)
        if not facts.marked:
            return Mark()
        if facts.landing.state != "landed":
            return land_or_wait(facts)
        return End("undone", "") if facts.landing.tidied else Tidy()


def next_move(facts: UndoFacts, now: str) -> Move:
    """Choose the next move of an undo."""
    return proving_move(facts, now, _Undo())
