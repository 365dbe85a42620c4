"""A run that lands work that earlier runs proved. Pure: the order of the rules is the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from asbuilt.lifecycle.delivery.decide import brought_to_safety, deliver, promised
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.delivery.pull_request import repair_under_way
from asbuilt.lifecycle.run.decide import proving_move
from asbuilt.lifecycle.run.moves import Attempt, End, Keep, Move

if TYPE_CHECKING:
    from asbuilt.events.options import RunKind


class LandingFacts(DeliveryFacts):
    """A landing that the user asked for."""

    kind: ClassVar[RunKind] = "land"


class _Landing:
    def unsafe(self, facts: LandingFacts) -> Attempt | Keep | None:
        return brought_to_safety(repair_under_way(facts))

    def idle(self, facts: LandingFacts) -> End | None:
        if facts.works or facts.unlanded:
            return None
        return End("done", "nothing to land: the target has all proven commits")

    def work(self, facts: LandingFacts, now: str) -> Move:
        # The user who asks for a landing is there to answer.
        return promised(facts, is_attended=True) or deliver(facts, now)


def next_move(facts: LandingFacts, now: str) -> Move:
    """Choose the next move of a landing."""
    return proving_move(facts, now, _Landing())
