"""Facts of a run that proves finished phases again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from asbuilt.events.phases import PhaseRechecked
from asbuilt.lifecycle.run.fold import take_options
from asbuilt.lifecycle.run.proving import ProvingFacts, hear_proving

if TYPE_CHECKING:
    from asbuilt.events.event import Entry, Outcome
    from asbuilt.events.options import RunKind, RunOptions


class VerificationFacts(ProvingFacts):
    """A verification."""

    kind: ClassVar[RunKind] = "verify"
    rechecked: dict[str, Outcome] = field(default_factory=dict)
    """Result of each phase's checks."""
    failures: tuple[str, ...] = ()


def begin_verification(run: str, options: RunOptions) -> VerificationFacts:
    """Return the facts of a verification before its first event."""
    facts = VerificationFacts(run, wanted=options.phase)
    take_options(facts, options)
    return facts


def hear_verification(facts: VerificationFacts, entry: Entry) -> None:
    """Fold one event."""
    event = entry.event
    hear_proving(facts, event)
    if isinstance(event, PhaseRechecked) and event.phase in facts.phases:
        facts.rechecked[event.phase] = event.outcome
        facts.failures += tuple(f"phase {event.phase}: {failure}" for failure in event.failures)
