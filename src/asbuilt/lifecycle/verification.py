"""A run that proves finished phases again, one after the other. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from asbuilt.events.phases import PhaseRechecked
from asbuilt.lifecycle.run.decide import proving_move
from asbuilt.lifecycle.run.facts import PASS
from asbuilt.lifecycle.run.moves import End, Move, Recheck
from asbuilt.lifecycle.run.proving import ProvingFacts

if TYPE_CHECKING:
    from asbuilt.events.event import Entry, Outcome
    from asbuilt.events.options import RunKind


class VerificationFacts(ProvingFacts):
    """A verification."""

    kind: ClassVar[RunKind] = "verify"
    rechecked: dict[str, Outcome] = field(default_factory=dict)
    """Result of each phase's checks."""
    failures: tuple[str, ...] = ()

    def hear(self, entry: Entry) -> None:
        """Fold one event."""
        super().hear(entry)
        event = entry.event
        if isinstance(event, PhaseRechecked) and event.phase in self.phases:
            self.rechecked[event.phase] = event.outcome
            self.failures += tuple(f"phase {event.phase}: {failure}" for failure in event.failures)


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
