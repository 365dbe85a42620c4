"""A prompt repeated in fresh contexts until its plan is done or its rounds are used up. Pure.

Rule: a round starts only after the user's /clear, and rounds only count up, so a loop cannot run away.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from asbuilt.session.turn_end import phase_over

MOST: Final = 100
"""Upper limit of rounds."""
LASTS_S: Final = 3_600
COMPLETE: Final = "PLAN COMPLETE"
BLOCKER: Final = "BLOCKER:"


class Loop(NamedTuple):
    """A loop of a conversation, in one of its rounds."""

    prompt: str
    """As typed, with its line ends."""
    most: int
    iteration: int
    promise: str
    """What the agent writes to claim that it is done; the plan's state decides whether it is."""
    plan: str
    phase: str
    """The current phase when the round started. The round ends with it."""
    at: float
    is_left: bool = False
    """The round is over; the next one waits for a fresh context."""
    why: str = ""
    """Why the round is over, or what became of a claim."""
    file: str = ""
    """The loop's file, if another plugin runs it (`session.context.foreign_loop`)."""


class Round(NamedTuple):
    """What is known when a turn of a loop starts or ends."""

    percent: int = 0
    critical: int = 60
    reply: str = ""
    """The agent's last message."""
    phase: str = ""
    is_plan_over: bool | None = None
    """None: the loop has no plan."""


def begin(
    prompt: str, *, most: int, promise: str = COMPLETE, plan: str = "", phase: str = "", now: float
) -> Loop:
    """Start a loop of 1 to 100 rounds."""
    return Loop(prompt, max(1, min(most, MOST)), 1, promise, plan, phase, now)


def after(loop: Loop, now: float, turn: Round) -> Loop | None:
    """Return the loop after a turn; None if it is over."""
    loop = loop._replace(at=now)
    is_blocked = any(line.lstrip(" *#>").startswith(BLOCKER) for line in turn.reply.splitlines())
    if turn.is_plan_over or is_blocked:
        return None
    if _says(loop.promise, turn.reply):
        if turn.is_plan_over is None:
            return None
        loop = loop._replace(why=f"the agent said {loop.promise}, and the plan has items open")
    if loop.is_left:
        return loop
    if turn.percent >= turn.critical:
        return loop._replace(is_left=True, why=f"context {turn.percent}% used")
    if over := phase_over(loop.phase, turn.phase):
        return loop._replace(is_left=True, why=f"phase {over} is over")
    return loop


def again(loop: Loop, now: float, phase: str) -> Loop | None:
    """Start the next round in a fresh context; None if no round is left or the loop is older than an hour."""
    if loop.iteration >= loop.most or not 0 <= now - loop.at <= LASTS_S:
        return None
    return loop._replace(iteration=loop.iteration + 1, phase=phase, at=now, is_left=False)


def from_file(value: object) -> Loop | None:
    """Parse a stored loop; None if it is not a loop or its limit is invalid."""
    fields = {"file": "", **value} if isinstance(value, dict) else {}
    if fields.keys() != set(Loop._fields):
        return None
    texts = [fields[name] for name in ("prompt", "promise", "plan", "phase", "why", "file")]
    counts = [fields[name] for name in ("most", "iteration")]
    is_sound = all(isinstance(text, str) for text in texts) and all(type(count) is int for count in counts)
    if not is_sound or not isinstance(fields["at"], int | float) or type(fields["is_left"]) is not bool:
        return None
    loop = Loop(**fields)
    return loop if 1 <= loop.iteration <= loop.most <= MOST else None


def _says(promise: str, reply: str) -> bool:
    return bool(promise) and promise.casefold() in reply.casefold()
