"""Decide whether a turn may end, for every part of asbuilt that can block it. Pure.

Rule: the order of the checks is the policy, and no reason blocks a turn twice in one context. An authoring
stage has a new reason with each output, so it may block a turn that is already continuing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

GUARD: Final = 3
"""Number of times that postflight work may block a turn in one context."""
CONTEXT: Final = "context-critical"


class Wish(NamedTuple):
    """What a part of asbuilt wants done before a turn ends."""

    reason: str
    """Name of the reason: the same name never blocks a turn twice."""
    words: str


class StopFacts(NamedTuple):
    """What is known when a turn is about to end."""

    is_continuing: bool = False
    """A hook, of asbuilt or another program, has just blocked the end of this turn."""
    stage: Wish | None = None
    """What the current authoring stage wants. Stages and outputs are counted, so it terminates."""
    postflight: Wish | None = None
    """What is left to do after a task."""
    in_loop: bool = False
    """A loop is active. It has its own end, and two blockers would trap a conversation."""
    percent: int = 0
    critical: int = 60
    words: str = ""
    """What to do when the context is full."""
    stopped_for: tuple[str, ...] = ()
    """Every reason that has blocked a turn in this context."""


def decide(facts: StopFacts) -> Wish | None:
    """Return what blocks the turn; None: it may end. First match wins; the order is the policy."""
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
