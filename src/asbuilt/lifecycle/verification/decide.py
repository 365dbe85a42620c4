"""Choose the next move of a run that proves again what is done. Pure: one phase after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.lifecycle.run.facts import PASS
from asbuilt.lifecycle.run.moves import End, Move, Recheck

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.facts import RunFacts


def to_check(facts: RunFacts) -> list[str]:
    """List the phases that a verification is about: the one that was named, else all that are done."""
    if facts.wanted is not None:
        return [facts.wanted] if facts.wanted in facts.phases else []
    return [phase for phase in facts.phases if phase in facts.done_before]


def verification(facts: RunFacts) -> Move:
    """Check one phase after the other again, then say how it came out."""
    wanted = to_check(facts)
    for phase in wanted:
        if phase not in facts.rechecked:
            return Recheck(phase)
    if all(facts.rechecked[phase] == PASS for phase in wanted):
        return End("done", f"what was proven holds: phase {', '.join(wanted)}")
    return End("failed", "; ".join(facts.failures) or "not every check could be run")
