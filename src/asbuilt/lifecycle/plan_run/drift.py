"""Correct a number of the plan that the work has shown to be wrong. Pure.

Rule: if a verdict depends on the number, only a user may correct the plan; `auto` does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.questions import DriftKey
from asbuilt.lifecycle.run.facts import PASS, PhaseFacts, RunFacts
from asbuilt.lifecycle.run.moves import Ask, Commit, End, Move, until_answered

if TYPE_CHECKING:
    from asbuilt.lifecycle.plan_run.facts import PlanFacts


def correcting(facts: PlanFacts, phase: PhaseFacts, *, may_fix: bool) -> Move | None:
    """Ask the user to accept a measured number; None if no verdict depends on it, or after a no.

    A number that an agent flagged is asked about at once. Other numbers are first sent back for a fix; in an
    unattended run, all are.
    """
    last = phase.attempts[-1] if phase.attempts else None
    if last is None or last.checks != PASS or last.verdict in (None, PASS):
        return None
    if last.stops:
        return _stopped(phase, f"{last.stops[0]}; it was corrected before")
    if not last.asks or (may_fix and (facts.auto or not all(question.is_flagged for question in last.asks))):
        return None
    answers: dict[str, str | None] = {}
    for question in last.asks:
        wanted = DriftKey(intent=str(phase.intent), item=question.item, actual=question.actual)
        key = wanted.of(facts.run)
        agreed = {
            str(drift_key)
            for drift_key, answer in facts.answers(DriftKey).items()
            if (drift_key.intent, drift_key.item, answer) == (wanted.intent, wanted.item, "yes")
        }
        if agreed - {key}:
            return _stopped(phase, f"{question.words.splitlines()[0]}; you accepted another number before")
        if key not in facts.approvals:
            return Ask(key, "drift", f"correct phase {phase.id} of the plan? {question.words}", phase.id)
        answers[key] = facts.approvals[key]
    if "no" in answers.values():
        return None
    waits = next((key for key, answer in answers.items() if answer is None), None)
    if waits is None:
        return Commit(phase.id, last.number)
    if facts.auto:
        reason = last.asks[0].words.splitlines()[0]
        return End("failed", f"phase {phase.id}: {reason}.", "asbuilt approve, then run it again")
    return until_answered(waits)


def drifted(facts: RunFacts) -> int:
    """Count the numbers of the plan that are far off, by the last judged attempt of each phase."""
    judged = ([attempt for attempt in phase.attempts if attempt.checks] for phase in facts.phases.values())
    return sum(attempts[-1].far for attempts in judged if attempts)


def _stopped(phase: PhaseFacts, why: str) -> End:
    return End("failed", f"phase {phase.id}: {why}.", "check the measurement and edit the plan")
