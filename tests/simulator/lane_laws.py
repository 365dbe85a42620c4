"""What holds of phases that are worked on side by side.

The one rule: a phase is in one lane at a time, and merged once, after what it needs, by its run's own chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.phases import PhaseForked, PhaseJoined, PhaseMerged
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.overview import facts_of
from tests.simulator.bench import passes_check
from tests.simulator.stage import Unlawful
from tests.simulator.story import REPO

if TYPE_CHECKING:
    from asbuilt.events.phases import PhaseProven
    from asbuilt.events.runs import RunEnded
    from asbuilt.journal.blobs import Blobs
    from tests.simulator.ledger import Ledger
    from tests.simulator.model_git import Model


class LaneLaws:
    """The laws of lanes, over the events of all runs."""

    def __init__(self, ledger: Ledger, blobs: Blobs, model: Model) -> None:
        self._ledger = ledger
        self._blobs = blobs
        self._model = model
        self._open: dict[str, set[str]] = {}
        """The phases of a run that are worked on side by side."""
        self._ready: dict[str, set[str]] = {}
        """The phases of a run that are to be merged."""

    def of(self, run: str) -> set[str]:
        """Tell the open lanes of a run."""
        return self._open.get(run, set())

    def ended(self, run: str, event: RunEnded) -> None:
        """See that no ready phase is left behind."""
        if event.state in ("landed", "held") and self._ready.get(run):
            raise Unlawful(f"{run} is over, and {self._ready[run]} were ready and are not merged")

    def moved(self, run: str, event: PhaseForked | PhaseJoined | PhaseMerged) -> None:
        """See that a phase is in one lane at a time, and merged by nobody else."""
        lanes, ready, phase = (
            self._open.setdefault(run, set()),
            self._ready.setdefault(run, set()),
            event.phase,
        )
        match event:
            case PhaseForked():
                if phase in lanes:
                    raise Unlawful(f"phase {phase} of {run} has two lanes")
                lanes.add(phase)
                ready.discard(phase)
            case PhaseJoined():
                lanes.discard(phase)
                (ready.add if event.state == "ready" else ready.discard)(phase)
            case PhaseMerged():
                if phase not in ready:
                    raise Unlawful(f"phase {phase} of {run} is merged while it is not ready")

    def proven(self, run: str, event: PhaseProven) -> None:
        """See that a phase comes after what it needs, and leaves what was proven before it."""
        if run not in self._open:
            return
        if event.phase in self._open[run]:
            raise Unlawful(f"phase {event.phase} of {run} is committed by its own lane")
        self._ready[run].discard(event.phase)
        found = runs.find(self._ledger.look(), LOCAL, REPO, run)
        if found is None:
            return
        facts = facts_of(self._ledger.look(), self._blobs, found)
        early = [need for need in facts.phases[event.phase].needs if need not in facts.done]
        if early:
            raise Unlawful(f"phase {event.phase} of {run} is merged before {early}, which it needs")
        files = self._model.files(event.commit)
        gone = [
            one.id
            for one in facts.phases.values()
            if one.proven and not passes_check(files, f"check {found.options.slug}-{one.id}")
        ]
        if gone:
            raise Unlawful(f"phase {event.phase} of {run} undoes {gone}")

    def are_beside(self, one: str, other: str) -> bool:
        """Tell whether two attempts are of phases with lanes of their own."""
        (run, first, *_), (_, second, *_) = one.split("."), other.split(".")
        return first != second and {first, second} <= self.of(run)
