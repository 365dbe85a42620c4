"""A run that proves finished phases again, one after the other. Pure."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from asbuilt.events.event import Entry, Outcome
from asbuilt.events.options import RunKind
from asbuilt.events.phases import PhaseRechecked
from asbuilt.lifecycle.run.facts import PASS
from asbuilt.lifecycle.run.guards import before_work
from asbuilt.lifecycle.run.moves import End, Move, Recheck
from asbuilt.lifecycle.run.preflight import prepare
from asbuilt.lifecycle.run.proving import ProvingFacts


class VerificationFacts(ProvingFacts):
    """A verification."""

    kind: ClassVar[RunKind] = "verify"
    rechecked: dict[str, Outcome] = field(default_factory=dict)
    failures: tuple[str, ...] = ()

    def fold(self, entry: Entry) -> None:
        """Fold one event."""
        super().fold(entry)
        event = entry.event
        if isinstance(event, PhaseRechecked) and event.phase in self.phases:
            self.rechecked[event.phase] = event.outcome
            self.failures += tuple(f"phase {event.phase}: {failure}" for failure in event.failures)


def next_move(facts: VerificationFacts, now: str) -> Move:
    """Choose the next move of a verification. No agent works for it."""
    first = before_work(facts, now)
    if first is not None:
        return first
    wanted = _wanted(facts)
    if not wanted:
        return End("done", "nothing to verify: no phase is done")
    return prepare(facts) or _checking(facts, wanted)


def _checking(facts: VerificationFacts, wanted: list[str]) -> Move:
    for phase in wanted:
        if phase not in facts.rechecked:
            return Recheck(phase)
    if all(facts.rechecked[phase] == PASS for phase in wanted):
        return End("done", f"still proven: phase {', '.join(wanted)}")
    return End("failed", "; ".join(facts.failures) or "not every check could be run")


def _wanted(facts: VerificationFacts) -> list[str]:
    """List the phases to verify: the named phase, else all that are done."""
    if facts.wanted is not None:
        return [facts.wanted] if facts.wanted in facts.phases else []
    return [phase for phase in facts.phases if phase in facts.done_before]
