"""What one run has written down, and its way to write more. Every event is written once, under its key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from asbuilt.git.commits import Person
from asbuilt.journal.events import append
from asbuilt.journal.ids import Address
from asbuilt.plan.edit import the_phase
from asbuilt.plan.reader import read
from asbuilt.proof.counts import Counts

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Store
    from asbuilt.plan.model import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A run, and the journal as it sees it."""

    run: Run
    store: Store
    blobs: Blobs

    def say(self, kind: str, key: str, **data: object) -> None:
        """Append an event of this run."""
        with self.store.write() as session:
            append(
                session,
                Address(self.run.org, self.run.repo, self.run.plan),
                key=f"{self.run.run}/{key}",
                kind=kind,
                actor="asbuilt",
                data={"run": self.run.run, **data},
            )

    def told(self, key: str) -> dict[str, Any]:
        """Return the data of an event of this run."""
        with self.store.read() as session:
            rows = session.rows(
                "SELECT data FROM events WHERE org = :org AND repo = :repo AND plan = :plan AND key = :key",
                org=self.run.org,
                repo=self.run.repo,
                plan=self.run.plan,
                key=f"{self.run.run}/{key}",
            )
        told: dict[str, Any] = json.loads(rows[0]["data"])
        return told

    def frozen(self, phase_id: str) -> tuple[Phase, str]:
        """Return a phase as it was frozen, and its exact text: implementer and verifier get the same."""
        plan = read(self.blobs.get(self.told(f"{phase_id}/begun")["text"]))
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
