"""Attempts of a plan, newest first, computed from its events. Nothing here is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.journal import runs
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle.kinds import fold

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address
    from asbuilt.lifecycle.run.facts import AttemptFacts, PhaseFacts


class AttemptView(NamedTuple):
    """The state of one attempt."""

    name: str
    """Name that users type: `rate-limit.1.2a.2`."""
    id: str
    """Name of its ref and its folder."""
    run: str
    phase: str
    facts: AttemptFacts
    is_proven: bool
    """Whether the phase was proven with its tree."""


def attempts_of(session: Session, blobs: Blobs, address: Address, *, limit: int = 50) -> list[AttemptView]:
    """List the attempts of a plan's last runs."""
    told = events_of(session, blobs, address)
    found = []
    for run in runs.of_plan(session, address, limit=limit):
        phases = fold(run.run, run.options, told).phases.values()
        found += [_view(run.name, run.run, phase, one) for phase in phases for one in phase.attempts]
    return sorted(found, key=lambda one: one.facts.began_at, reverse=True)


def _view(name: str, run: str, phase: PhaseFacts, facts: AttemptFacts) -> AttemptView:
    return AttemptView(
        name=f"{name}.{phase.id}.{facts.number}",
        id=f"{run}.{phase.id}.{facts.number}",
        run=run,
        phase=phase.id,
        facts=facts,
        is_proven=phase.proven is not None and facts is phase.attempts[-1],
    )
