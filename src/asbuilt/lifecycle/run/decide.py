"""Rules that precede those of each kind of run: transient errors, stops, pauses, caps and hours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from asbuilt.events.runs import WaitReason, with_advice
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.preflight import preflight
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.run.stoppages import capped
from asbuilt.lifecycle.run.windows import within

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.facts import RunFacts

TROUBLE_LIMIT: Final = 10
"""Maximum number of transient errors in a row, over about six hours; the next one ends the run."""
_Facts = TypeVar("_Facts", bound=ProvingFacts)
_Facts_contra = TypeVar("_Facts_contra", bound=ProvingFacts, contravariant=True)


class Course(Protocol[_Facts_contra]):
    """Rules of one kind of run that proves something."""

    def unsafe(self, facts: _Facts_contra) -> moves.Attempt | moves.Keep | None:
        """Return the move that a stopped run needs before it may end."""
        ...

    def idle(self, facts: _Facts_contra) -> moves.End | None:
        """Return why there is nothing to do; called before anything is created."""
        ...

    def work(self, facts: _Facts_contra, now: str) -> moves.Move:
        """Return the next move once tests, setup and baseline are done."""
        ...


def paced(facts: RunFacts, move: moves.Move, now: str) -> moves.Move:
    """Delay a move until the run's hours, or until the end of a pause.

    A stopping run does not pause: nothing would wake it, and it still has to end.
    """
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
    who = f"the {'agent' if isinstance(move, moves.Attempt) else 'verifier'} in {_where(facts, move)}"
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


def _where(facts: RunFacts, move: moves.Move) -> str:
    phase = getattr(move, "phase", None)
    return "all phases together" if phase is None else phase if facts.plans else f"phase {phase}"


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
    if chain.troubles > TROUBLE_LIMIT:
        why = f"stopped by transient errors {chain.troubles} times; last: {chain.trouble}"
        return moves.End("failed", why, chain.trouble_next)
    if chain.retry_at is not None and chain.retry_at > now:
        why = f"trouble: {with_advice(chain.trouble, chain.trouble_next)}"
        return moves.Wait(WaitReason.TROUBLE, why, chain.retry_at)
    return None


def proving_move(facts: _Facts, now: str, course: Course[_Facts]) -> moves.Move:
    """Choose the next move of a run that proves something. First match wins."""
    if facts.stop is not None and facts.may_stop:
        unsafe = course.unsafe(facts)
        return (kept_back(facts, now) or unsafe) if unsafe else moves.End("stopped", facts.stop)
    waits = kept_back(facts, now)
    if waits is not None:
        return waits
    if not facts.started:
        return moves.Start()
    move = course.idle(facts) or preflight(facts) or course.work(facts, now)
    if isinstance(move, moves.Attempt | moves.Verify | moves.VerifyTogether) and can_wait(facts, move):
        return capped(facts, now) or move
    return move
