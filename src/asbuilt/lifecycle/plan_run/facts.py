"""Facts of a run of a plan's phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.run.facts import AttemptFacts, PhaseFacts

if TYPE_CHECKING:
    from asbuilt.events.event import Outcome
    from asbuilt.events.options import RunKind, RunMode


class PlanFacts(DeliveryFacts):
    """A run of one phase, or of all open phases."""

    kind: ClassVar[RunKind] = "run"
    builds: ClassVar[bool] = True
    mode: RunMode = "phase"
    carried: str | None = None
    """The commit with the files of an earlier run, from which the workspace starts."""
    together: Outcome | None = None
    apart: tuple[str, ...] = ()
    """Failures of all phases together."""
    whole: AttemptFacts = field(default_factory=lambda: AttemptFacts(0, "verify"))
    """The verdict on all phases together, and its verifiers."""

    @property
    def current(self) -> PhaseFacts | None:
        """The phase that this run works on now; None if none is left."""
        proven = {phase.id for phase in self.phases.values() if phase.proven} | self.done_before
        if self.wanted is not None:
            wanted = self.phases.get(self.wanted)
            return wanted if wanted is not None and wanted.id not in proven else None
        if self.mode == "phase" and any(phase.proven for phase in self.phases.values()):
            return None
        left = [phase for phase in self.phases.values() if phase.id not in proven]
        begun = (phase for phase in self.phases.values() if phase.begun and not phase.proven)
        ready = (phase for phase in left if all(need in proven for need in phase.needs))
        return next(begun, None) or next(ready, None)

    @property
    def last_kept(self) -> str | None:
        """The commit with the files of the last kept attempt at the current phase; None if there is none."""
        phase = self.current
        return next((one.commit for one in reversed(phase.attempts) if one.commit), None) if phase else None
