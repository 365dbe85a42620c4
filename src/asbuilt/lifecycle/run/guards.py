"""Rules that precede those of each kind of run: transient errors, stops, pauses, caps and hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.runs import WaitReason, with_advice
from asbuilt.lifecycle.limits import TRANSIENT_LIMIT
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import RunFacts
from asbuilt.lifecycle.run.stoppages import capped
from asbuilt.lifecycle.run.working_hours import within

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.proving import ProvingFacts


def paced(facts: RunFacts, move: moves.Move, now: str) -> moves.Move:
    """Delay a move until the run's hours, or the end of a pause; a stopping run has no pause."""
    move = within(facts.window, move, now)
    pauses = facts.pause is not None and facts.stop is None
    return moves.Wait(WaitReason.PAUSE, "paused", None) if pauses and can_wait(facts, move) else move


def admitted(facts: RunFacts, move: moves.Move, now: str) -> moves.Move:
    """Delay the start of an agent while the breaker of its account blocks it."""
    role = role_of(move)
    breaker = None if role is None else facts.breaker(role)
    if breaker is None or not breaker.blocks(facts.chain_name, now) or not can_wait(facts, move):
        return move
    is_overload = breaker.cause == "overload"
    what = "overload" if is_overload else "login" if breaker.cause == "auth" else "usage limit"
    reason = WaitReason.OVERLOAD if is_overload else WaitReason.LIMIT
    phase = getattr(move, "phase", None)
    where = "all phases together" if phase is None else phase if facts.plans else f"phase {phase}"
    who = f"the {'agent' if isinstance(move, moves.Attempt) else 'verifier'} in {where}"
    until = breaker.until if breaker.is_open(now) else breaker.probe_until
    return moves.Wait(reason, f"{what} of {who}", until, account=breaker.account)


def role_of(move: moves.Move) -> str | None:
    """Return the role of the agent that a move starts; None if it starts none."""
    match move:
        case moves.Attempt(role=role) | moves.Verify(role=role):
            return role
        case moves.VerifyTogether():
            return "verify"
        case _:
            return None


def can_wait(facts: RunFacts, move: moves.Move) -> bool:
    """Return whether a move leaves nothing half done if it is delayed."""
    match move:
        case moves.Attempt(phase=phase, number=number):
            begun = facts.part(phase).attempt(number)
            return begun is None or begun.ending is not None
        case moves.Land():
            return not facts.is_landing
        case (
            moves.Keep()
            | moves.Mark()
            | moves.Tidy()
            | moves.End()
            | moves.Join()
            | moves.Wait(reason=WaitReason.LANES)
        ):
            return False
        case _:
            return True


def kept_back(facts: RunFacts, now: str) -> moves.Move | None:
    """Wait after a transient error, or give up after too many; None when the run can continue."""
    chain = facts.chain
    if chain.transient_errors > TRANSIENT_LIMIT:
        why = f"stopped by transient errors {chain.transient_errors} times; last: {chain.last_error}"
        return moves.End("failed", why, chain.last_error_next_step)
    if chain.retry_at is not None and chain.retry_at > now:
        why = f"trouble: {with_advice(chain.last_error, chain.last_error_next_step)}"
        return moves.Wait(WaitReason.TRANSIENT_ERROR, why, chain.retry_at)
    return None


def before_work(
    facts: ProvingFacts, now: str, unsafe: moves.Attempt | moves.Keep | None = None
) -> moves.Move | None:
    """Choose the move that precedes all rules of a run that proves something; None once it has started.

    `unsafe` is the move that the run needs before it may end, if a user stops it.
    """
    if facts.stop is not None and facts.may_stop:
        return (kept_back(facts, now) or unsafe) if unsafe else moves.End("stopped", facts.stop)
    return kept_back(facts, now) or (None if facts.started else moves.Start())


def within_caps(facts: ProvingFacts, move: moves.Move, now: str) -> moves.Move:
    """Ask before a move starts an agent that would spend more than the run's caps."""
    if isinstance(move, moves.Attempt | moves.Verify | moves.VerifyTogether) and can_wait(facts, move):
        return capped(facts, now) or move
    return move
