"""What one run has written down, and its way to write more. Every event is written once, under its key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from asbuilt.git.commits import Person
from asbuilt.journal.events import append, history, keyed
from asbuilt.plan.edit import the_phase
from asbuilt.plan.reader import read
from asbuilt.proof.counts import Counts

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.events import Event
    from asbuilt.journal.ids import Address
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Session, Store
    from asbuilt.plan.model import Phase


ACTOR: Final = "asbuilt"
_ELSEWHERE: Final = ("outline", "details")
"""Names under which an event holds the digest of what was too long for it."""


def say(session: Session, run: Run, kind: str, key: str, **data: object) -> None:
    """Append an event of a run; its key is the run's and the step's."""
    append(
        session, run.address, key=f"{run.run}/{key}", kind=kind, actor=ACTOR, data={"run": run.run, **data}
    )


def events_of(session: Session, blobs: Blobs, address: Address) -> list[tuple[str, dict[str, Any]]]:
    """Return a plan's events in order; what was too long for one is fetched from its blob."""
    told: list[tuple[str, dict[str, Any]]] = []
    seen = 0
    while page := history(session, address, after=seen):
        for event in page:
            data = event.data
            for name in _ELSEWHERE:
                if name in event.data:
                    data = {**data, **json.loads(blobs.get(event.data[name]))}
            told.append((event.kind, data))
        seen = page[-1].seq
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A run, and the journal as it sees it."""

    run: Run
    store: Store
    blobs: Blobs

    def say(self, kind: str, key: str, **data: object) -> None:
        """Append an event of this run."""
        with self.store.write() as session:
            say(session, self.run, kind, key, **data)

    def told(self, key: str, *, run: str | None = None) -> dict[str, Any]:
        """Return the data of an event of this run, or of another one of its plan."""
        return self._event(key, run or self.run.run).data

    def at(self, key: str) -> str:
        """Return when an event of this run was written."""
        return self._event(key, self.run.run).at

    def frozen(self, phase_id: str, *, run: str | None = None) -> tuple[Phase, str]:
        """Return a phase as it was frozen, and its exact text: implementer and verifier get the same."""
        plan = read(self.blobs.get(self.told(f"{phase_id}/begun", run=run)["text"]))
        phase = the_phase(plan, phase_id)
        return phase, plan.verbatim(phase).decode("utf-8", "surrogateescape")

    def author(self) -> Person:
        """Return who the outcome commits are by: git's own answer when the run began."""
        name, email, at = self.told("started")["author"]
        return Person(name=name, email=email, at=datetime.fromisoformat(at))

    def baseline(self) -> Counts | None:
        """Return what the tests showed on the base, if there are tests."""
        kept = self.told("baseline").get("counts")
        if kept is None:
            return None
        ran, failed, skipped, names = json.loads(self.blobs.get(kept))
        return Counts(ran, failed, skipped, tuple(names))

    def _event(self, key: str, run: str) -> Event:
        with self.store.read() as session:
            event = keyed(session, self.run.address, f"{run}/{key}")
        if event is None:
            raise LookupError(key)
        return event
