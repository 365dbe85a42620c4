"""A run that lands work that earlier runs proved. Pure: the order of the rules is the policy."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.options import RunKind
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.delivery.next_move import brought_to_safety, deliver, promised
from asbuilt.lifecycle.pull_request.repairs import repair_under_way
from asbuilt.lifecycle.run.guards import before_work, within_caps
from asbuilt.lifecycle.run.moves import End, Move
from asbuilt.lifecycle.run.preflight import prepare


class LandingFacts(DeliveryFacts):
    """A landing that the user asked for."""

    kind: ClassVar[RunKind] = "land"


def next_move(facts: LandingFacts, now: str) -> Move:
    """Choose the next move of a landing."""
    first = before_work(facts, now, brought_to_safety(repair_under_way(facts)))
    if first is not None:
        return first
    if not facts.works and not facts.unlanded and not facts.landed:
        if facts.done:
            return End("done", "nothing to land: the target has all proven commits")
        return End("stopped", "nothing to land: no phase is proven", f"`asbuilt run {facts.slug}`")
    # The user who asks for a landing is there to answer.
    move = prepare(facts) or promised(facts, is_attended=True) or deliver(facts, now)
    return within_caps(facts, move, now)
