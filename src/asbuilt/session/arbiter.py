"""May this turn end? One arbiter answers for every part of asbuilt that would like to say no. Pure.

The one rule: the order is the policy, and no reason stops a conversation twice. A stage of authoring has a
new reason with each output, so it may stop a turn that goes on already.
"""

from __future__ import annotations

from typing import Final, NamedTuple

GUARD: Final = 3
"""So often what is left to do after a task may stop a turn, and never again."""
CONTEXT: Final = "context-critical"


class Wish(NamedTuple):
    """What a part of asbuilt wants done before a turn ends."""

    reason: str
    """Its name: the same name never stops a turn twice."""
    words: str


class StopFacts(NamedTuple):
    """What is known when a turn is about to end."""

    is_continuing: bool = False
    """It was stopped from ending just now, by whomever."""
    stage: Wish | None = None
    """The seat of authoring: what the stage that is due wants. Stages and outputs are counted, so it ends."""
    postflight: Wish | None = None
    """The seat of what is left to do after a task."""
    in_loop: bool = False
    """A loop runs: it has its own end, and two that say no would trap a conversation."""
    percent: int = 0
    critical: int = 60
    words: str = ""
    """What is to be done when the context is full."""
    stopped_for: tuple[str, ...] = ()
    """Every reason for which this context was stopped before."""


def decide(facts: StopFacts) -> Wish | None:
    """Choose what stops the turn; None: it may end. First match wins; the order is the policy."""
    if facts.stage is not None and _may_stop(facts.stage, facts):
        return facts.stage
    if facts.is_continuing:
        return None
    if facts.postflight is not None and _may_stop(facts.postflight, facts):
        return facts.postflight
    full = Wish(CONTEXT, facts.words)
    if facts.percent >= facts.critical and not facts.in_loop and _may_stop(full, facts):
        return full
    return None


def _may_stop(wish: Wish, facts: StopFacts) -> bool:
    if wish is facts.postflight and sum(one.startswith("postflight") for one in facts.stopped_for) >= GUARD:
        return False
    return wish.reason not in facts.stopped_for
