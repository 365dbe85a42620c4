"""What one run has written down, and its way to write more. Every event is written once, under its key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from asbuilt.git.commits import Person
from asbuilt.journal.events import MAX_BODY, append, body_size, keyed, shortened
from asbuilt.lifecycle.timers import reopens_at
from asbuilt.plan.edit import the_phase
from asbuilt.plan.reader import read
from asbuilt.proof.counts import Counts

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Session, Store
    from asbuilt.plan.model import Phase
    from asbuilt.ports import Result


ACTOR: Final = "asbuilt"
_WORDS: Final = 700


def say(session: Session, run: Run, kind: str, key: str, **data: object) -> None:
    """Append an event of a run; its key is the run's and the step's. Words that are too long are cut."""
    whole = {"run": run.run, **data}
    if body_size(whole) > MAX_BODY:
        whole = {name: _cut(value) for name, value in whole.items()}
    append(session, run.address, key=f"{run.run}/{key}", kind=kind, actor=ACTOR, data=whole)


def _cut(value: object) -> object:
    """Cut words to a size of which several fit; ids and digests are shorter than that."""
    if isinstance(value, list):
        return [shortened(one, _WORDS // len(value)) if isinstance(one, str) else one for one in value]
    return shortened(value, _WORDS) if isinstance(value, str) else value


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

    def told(self, key: str) -> dict[str, Any]:
        """Return the data of an event of this run."""
        with self.store.read() as session:
            event = keyed(session, self.run.address, f"{self.run.run}/{key}")
        if event is None:
            raise LookupError(key)
        return event.data

    def frozen(self, phase_id: str) -> tuple[Phase, str]:
        """Return a phase as it was frozen, and its exact text: implementer and verifier get the same."""
        plan = read(self.blobs.get(self.told(f"{phase_id}/begun")["text"]))
        phase = the_phase(plan, phase_id)
        return phase, plan.verbatim(phase).decode("utf-8", "surrogateescape")

    def reopens_at(self, ended: Result) -> str | None:
        """Return when a usage limit opens again, by the journal's clock; None when there was none."""
        if ended.ending != "limited":
            return None
        with self.store.read() as session:
            return reopens_at(ended.resets_at, session.now)

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
