"""A run that reverts what another run has proven or landed. Pure: the order of the rules is the policy."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Entry
from asbuilt.events.landings import LandingUndone
from asbuilt.events.options import RunKind
from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Landed, Work
from asbuilt.lifecycle.delivery.next_move import brought_to_safety, land_or_wait
from asbuilt.lifecycle.pull_request.repairs import repair_under_way
from asbuilt.lifecycle.run.guards import before_work
from asbuilt.lifecycle.run.moves import End, Mark, Move, Tidy
from asbuilt.lifecycle.run.preflight import prepare


class UndoFacts(DeliveryFacts):
    """An undo."""

    kind: ClassVar[RunKind] = "undo"
    of: str | None = None
    undoes: tuple[Landed, ...] = ()
    drops: tuple[Work, ...] = ()
    """All work of the plan that is proven and not landed."""
    outcome: str = ""
    """What was done instead, if no landed commit was reverted."""

    def fold(self, entry: Entry) -> None:
        """Fold one event."""
        super().fold(entry)
        if isinstance(entry.event, RunStarted):
            self.of = entry.event.of
            self.undoes = tuple(Landed(*undo) for undo in entry.event.undoes)
            self.drops = tuple(Work(*work) for work in entry.event.drops)
        if isinstance(entry.event, LandingUndone) and not (entry.event.reverted and entry.event.found):
            self.outcome = entry.event.words


def next_move(facts: UndoFacts, now: str) -> Move:
    """Choose the next move of an undo. No agent works for it."""
    first = before_work(facts, now, brought_to_safety(repair_under_way(facts)))
    if first is not None:
        return first
    if facts.way == "pr" and facts.undoes:
        return End("failed", "work that landed by a pull request is reverted by another one, at the forge")
    if not facts.undoes and not facts.drops:
        return End("done", f"nothing to undo: no proven work of run {facts.of} is left")
    # Work that has not landed is dropped without a proof.
    return (prepare(facts) if facts.undoes else None) or _reverting(facts)


def _reverting(facts: UndoFacts) -> Move:
    if facts.landing.state == "refused":
        return End("failed", facts.landing.reason, facts.landing.next_step, facts.landing.other)
    if not facts.marked:
        return Mark()
    if facts.landing.state != "landed":
        return land_or_wait(facts)
    return End("undone", facts.outcome) if facts.landing.tidied else Tidy()
