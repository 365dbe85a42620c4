"""Facts of a run that proves finished phases again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from asbuilt.events.phases import PhaseRechecked
from asbuilt.lifecycle.run.fold import fold_run, take_options
from asbuilt.lifecycle.run.proving import ProvingFacts, hear_proving

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Entry, Outcome
    from asbuilt.events.options import RunKind, RunOptions


class VerificationFacts(ProvingFacts):
    """A verification."""

    kind: ClassVar[RunKind] = "verify"
    rechecked: dict[str, Outcome] = field(default_factory=dict)
    """Result of each phase's checks."""
    failures: tuple[str, ...] = ()


def fold_verification(run: str, options: RunOptions, entries: Iterable[Entry]) -> VerificationFacts:
    """Fold the events of one verification, in order."""
    facts = VerificationFacts(run, wanted=options.phase)
    take_options(facts, options)
    return fold_run(facts, entries, _hear)


def _hear(facts: VerificationFacts, entry: Entry) -> None:
    event = entry.event
    hear_proving(facts, event)
    if isinstance(event, PhaseRechecked) and event.phase in facts.phases:
        facts.rechecked[event.phase] = event.outcome
        facts.failures += tuple(f"phase {event.phase}: {failure}" for failure in event.failures)
