"""Choose the moves between proof and landing, for every run that lands or reverts proven work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.delivery.sign_offs import ask_sign_offs, declined
from asbuilt.lifecycle.pull_request.next_move import pulling
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import PhaseFacts

if TYPE_CHECKING:
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

LANDING: Final = "landing"
"""The last point at which the plan is compared: everything is proven and reported."""


def brought_to_safety(phase: PhaseFacts | None) -> moves.Attempt | moves.Keep | None:
    """End the running agent and keep its files before a stopped run ends."""
    last = phase.attempts[-1] if phase is not None and phase.attempts else None
    if phase is None or last is None or last.refusals or last.is_lost:
        return None
    if last.ending is None:
        return moves.Attempt(phase.id, last.number, last.role, failures_for(phase))
    return moves.Keep(phase.id, last.number) if last.commit is None else None


def failures_for(phase: PhaseFacts) -> tuple[str, ...]:
    """Return the last failures that the current attempt has to fix, of this run or the run before."""
    if phase.attempts[-1].role != "fix":
        return phase.carried
    return next((attempt.failures for attempt in reversed(phase.attempts) if attempt.failures), ())


def promised(facts: DeliveryFacts, *, is_attended: bool) -> moves.Move | None:
    """Check at each phase's end and before each landing that the plan's text of proven phases is unchanged.

    The frozen text was built and judged. If the plan's text has changed since, the user decides; an
    unattended run fails and lands nothing.
    """
    if not facts.pending or facts.is_landing:
        return None
    point = LANDING if facts.reported else str(len(facts.works))
    if facts.compared != point:
        return moves.Compare(point)
    for phase, difference in sorted(facts.differs.items()):
        what = f"the text of phase {phase} was changed in the plan after it was frozen"
        if not is_attended:
            why = f"{what}: nothing landed; the plan's branch has the proven commits"
            return moves.End("failed", why, f"`asbuilt land {facts.slug}`, which asks you about the change")
        key = difference.question.of(facts.run)
        if difference.declined or facts.approvals.get(key) == "no":
            return declined(facts, f"what was built, since {what}", "the next run builds the new text")
        if key not in facts.approvals:
            return moves.Ask(key, "continue", f"{what}; continue with what was built?", phase)
        if facts.approvals[key] is None:
            return moves.until_answered(key)
    return None


def land_or_wait(facts: DeliveryFacts) -> moves.Move:
    """Land, or wait for the turn in the line of the branch. A landing that has started is finished."""
    line = facts.landing.line
    if line is None or facts.is_landing:
        return moves.Land()
    return moves.Wait(WaitReason.LANDING, line.words, None)


def deliver(facts: DeliveryFacts, now: str) -> moves.Move:
    """Land pending work, mark it in the plan, tidy up, close the plan's issues, and end."""
    if facts.way == "pr":
        return pulling(facts, now, sign_off=ask_sign_offs(facts))
    if facts.landing.state == "refused":
        return moves.End("failed", facts.landing.reason, facts.landing.next_step, facts.landing.other)
    if not facts.marked:
        return moves.Mark()
    if facts.pending:
        return (None if facts.is_landing else ask_sign_offs(facts)) or land_or_wait(facts)
    if not facts.landing.tidied:
        return moves.Tidy()
    return moves.CloseIssues() if facts.closes_issues else moves.End("landed", "")
