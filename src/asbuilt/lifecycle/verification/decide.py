"""Choose the next move of a run that proves finished phases again. Pure: one phase after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.lifecycle.run.decide import proving_move
from asbuilt.lifecycle.run.facts import PASS
from asbuilt.lifecycle.run.moves import End, Move, Recheck

if TYPE_CHECKING:
    from asbuilt.lifecycle.verification.facts import VerificationFacts


class _Verification:
    def unsafe(self, facts: VerificationFacts) -> None:
        """Return None: no agent works for it."""

    def idle(self, facts: VerificationFacts) -> End | None:
        return None if _wanted(facts) else End("done", "nothing to verify: no phase is done")

    def work(self, facts: VerificationFacts, now: str) -> Move:
        del now
        wanted = _wanted(facts)
        for phase in wanted:
            if phase not in facts.rechecked:
                return Recheck(phase)
        if all(facts.rechecked[phase] == PASS for phase in wanted):
            return End("done", f"still proven: phase {', '.join(wanted)}")
        return End("failed", "; ".join(facts.failures) or "not every check could be run")


def next_move(facts: VerificationFacts, now: str) -> Move:
    """Choose the next move of a verification."""
    return proving_move(facts, now, _Verification())


def _wanted(facts: VerificationFacts) -> list[str]:
    """List the phases to verify: the named phase, else all that are done."""
    if facts.wanted is not None:
        return [facts.wanted] if facts.wanted in facts.phases else []
    return [phase for phase in facts.phases if phase in facts.done_before]
