"""Moves after an agent stopped early, or when a cap is reached. Pure.

Rule: what only the user can settle is asked once per stop; everything else continues automatically.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from asbuilt.events.event import Cause
from asbuilt.events.questions import CapKey, StoppedKey
from asbuilt.lifecycle.limits import OVERLOAD_LIMIT, REPEAT_LIMIT
from asbuilt.lifecycle.run.agent_stops import asks, course_of, is_of_account
from asbuilt.lifecycle.run.facts import RESUMABLE, AttemptFacts, PhaseFacts, RunFacts
from asbuilt.lifecycle.run.money import Caps, reached
from asbuilt.lifecycle.run.moves import End, Move
from asbuilt.lifecycle.run.questions import asked


class _Stop(NamedTuple):
    """An agent's early stop: agent, phase, cause. `start` makes the question's key unique."""

    who: Literal["agent", "verifier"]
    role: str
    where: str
    phase: str | None
    cause: Cause | None
    reason: str
    overloads: int
    place: str
    attempt: str
    start: int


def stoppage(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask about, or give up, the agent of a phase; None if it may resume or restart."""
    last = phase.attempts[-1] if phase.attempts else None
    # Its files are kept first, whatever the cause.
    if last is None or (last.ending not in (*RESUMABLE, "done") and last.commit is None):
        return None
    return stage_stoppage(facts, phase)


def stage_stoppage(facts: RunFacts, phase: PhaseFacts) -> Move | None:
    """Ask about, or give up, the agent of a stage of authoring, which has no files to keep."""
    last = phase.attempts[-1] if phase.attempts else None
    if last is None or last.ending in (None, "done"):
        return None
    where = phase.id if facts.plans else f"phase {phase.id}"
    stop = _Stop(
        "agent", last.role, where, phase.id, last.cause, last.reason, last.overloads,
        phase.id, str(last.number), last.ended_start,
    )  # fmt: skip
    return _about(facts, stop)


def verifier_move(facts: RunFacts, judged: AttemptFacts, phase: str | None, start: Move) -> Move:
    """Start a verifier, or settle the stop of the last one. A lost verifier is replaced at most twice."""
    stopped = _verifier_stoppage(facts, judged, phase)
    if stopped is not None or judged.lost_verifiers <= REPEAT_LIMIT:
        return stopped or start
    lost = f"{judged.verifier} {judged.lost_verifiers} times; last: {judged.verifier_reason}"
    return End("failed", f"{_scope(phase)}: the verifier {lost}")


def _verifier_stoppage(facts: RunFacts, judged: AttemptFacts, phase: str | None) -> Move | None:
    """Ask about, or give up, the verifier of a phase, or of all phases together."""
    where, role = _scope(phase), "test" if judged.verdict else "verify"
    stop = _Stop(
        "verifier", role, where, phase, judged.verifier_cause, judged.verifier_reason,
        judged.verifier_overloads, phase or "together", f"{judged.number}{role[0]}{judged.lost_verifiers}",
        judged.verifier_ended_start,
    )  # fmt: skip
    return _about(facts, stop)


def _scope(phase: str | None) -> str:
    return f"phase {phase}" if phase else "all phases together"


def _about(facts: RunFacts, stop: _Stop) -> Move | None:
    if stop.overloads > OVERLOAD_LIMIT:
        return End("failed", f"{stop.where}: overloaded {stop.overloads} times in a row; {stop.reason}")
    if stop.cause is not None and course_of(stop.cause) == "stop":
        return End("failed", f"{stop.where}: {stop.reason}")
    cause = stop.cause
    if not asks(cause):
        return None
    key = StoppedKey(run=facts.run, cause=cause, where=stop.place, attempt=stop.attempt, start=stop.start)
    if is_of_account(cause) and str(key) not in facts.approvals and not _is_holder(facts, stop.role):
        return None
    no = f"you said no: the {stop.who} in {stop.where} has stopped; {stop.reason}"
    question = f"try {stop.where} again? The {stop.who} refused: {stop.reason}"
    if cause == "auth":
        question = f"sign in to the {stop.who}'s account, then continue? {stop.reason}"
    return asked(facts, key, "agent", question, stop.phase, no=no)


def _is_holder(facts: RunFacts, role: str) -> bool:
    """Return whether this chain asks the user, for all chains that use the account."""
    breaker = facts.breaker(role)
    return breaker is not None and breaker.until is None and breaker.holder == facts.chain_name


def allowed(facts: RunFacts) -> Caps:
    """Return what a run may spend now: each yes of the user grants the caps again."""
    return facts.caps.times(_granted(facts) + 1)


def _granted(facts: RunFacts) -> int:
    return sum(answer == "yes" for answer in facts.answers(CapKey).values())


def capped(facts: RunFacts, now: str) -> Move | None:
    """Ask before a run spends more than its caps."""
    over = reached(allowed(facts), facts.spent, facts.time.worked_s(now))
    if over is None:
        return None
    key = CapKey(run=facts.run, number=_granted(facts) + 1)
    question = f"continue? {over}. Yes allows another {facts.caps.words}"
    return asked(facts, key, "cap", question, no=f"you said no: {over}")
