"""Decide whether a turn may end, for every part of asbuilt that can block it. Pure.

Rule: the order of the checks is the policy, and no named reason blocks a turn twice in one context. An
authoring stage has a new reason with each output, so it may block a turn that is already continuing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from asbuilt.policy.plan_mode.state import Hold

CONTEXT: Final = "context-critical"
_QUESTION_MARKS: Final = ("?", "？", "؟")


class Wish(NamedTuple):
    """What a part of asbuilt wants done before a turn ends."""

    reason: str
    """Name of the reason: the same name never blocks a turn twice. Empty: it may block once in each turn."""
    words: str


class StopFacts(NamedTuple):
    """What is known when a turn is about to end."""

    is_continuing: bool = False
    """A hook, of asbuilt or another program, has just blocked the end of this turn."""
    stage: Wish | None = None
    """What the current authoring stage wants. Each output has a new reason; the number of stages and
    outputs is limited."""
    in_loop: bool = False
    """A loop is active, of asbuilt or another plugin. It has its own end."""
    percent: int = 0
    critical: int = 60
    words: str = ""
    """What to do when the context is full."""
    others: tuple[Wish, ...] = ()
    """What else is due: a phase that is over, plan mode without a question."""
    stopped_for: tuple[str, ...] = ()
    """Every named reason that has blocked a turn in this context."""


def decide(facts: StopFacts) -> Wish | None:
    """Return what blocks the turn; None: it may end. First match wins; the order is the policy."""
    wishes = [] if facts.stage is None else [facts.stage]
    if not facts.is_continuing and not facts.in_loop:
        wishes += [Wish(CONTEXT, facts.words)] if facts.percent >= facts.critical else []
        wishes += facts.others
    return next((wish for wish in wishes if not wish.reason or wish.reason not in facts.stopped_for), None)


def phase_over(before: str, now: str) -> str:
    """Return the phase that a turn ended, however empty the context is; empty if there is none."""
    return before if now and before != now else ""


def is_left_in_plan_mode(
    hold: Hold, reply: str, *, is_authoring: bool, is_attended: bool, is_waiting: bool
) -> bool:
    """Return whether a turn in plan mode ends without a question to the user.

    An authoring stage has its own end, a background task continues the turn, and without a user none answers.
    """
    if hold.asked or is_authoring or not is_attended or is_waiting:
        return False
    last = reply.rstrip().rpartition("\n\n")[2]
    return not any(mark in last for mark in _QUESTION_MARKS)
