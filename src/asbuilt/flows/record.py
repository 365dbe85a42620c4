"""What one run has written down, and its way to write more. Every event is written once, under its key."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from asbuilt.errors import NotFound
from asbuilt.git.commits import Person
from asbuilt.journal import approvals, runs
from asbuilt.journal.events import MAX_BODY, append, body_size, keyed, shortened, whole_history
from asbuilt.lifecycle.causes import asks
from asbuilt.lifecycle.timers import backs_off_until, reopens_at
from asbuilt.plan.edit import the_phase
from asbuilt.plan.reader import read
from asbuilt.proof.counts import Counts, from_output, from_report
from asbuilt.proof.evidence import TESTS, evidence_from
from asbuilt.proof.projects.model import Setup, names_of, suites_of
from asbuilt.proof.projects.resolving import read_back

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.journal.approvals import Approval
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.events import Event
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Session, Transactions
    from asbuilt.plan.model import Phase
    from asbuilt.ports import Result
    from asbuilt.proof.evidence import Evidence
    from asbuilt.proof.projects.model import Suite


ACTOR: Final = "asbuilt"
_WORDS: Final = 700
_BASELINE: Final = "baseline.done"
_Asked = TypeVar("_Asked")


def say(session: Session, run: Run, kind: str, key: str, **data: object) -> None:
    """Append an event of a run; its key is the run's and the step's. Words that are too long are cut."""
    whole = {"run": run.run, **data}
    if body_size(whole) > MAX_BODY:
        whole = {name: _cut(value) for name, value in whole.items()}
    append(session, run.address, key=f"{run.run}/{key}", kind=kind, actor=ACTOR, data=whole)


def _revised(name: str, revision: int) -> str:
    # No phase has such an id, so that no key of a phase is met.
    return f"{name}@{revision}" if revision else name


def _cut(value: object) -> object:
    """Cut words to a size of which several fit; ids and digests are shorter than that."""
    if isinstance(value, list):
        return [shortened(one, _WORDS // len(value)) if isinstance(one, str) else one for one in value]
    return shortened(value, _WORDS) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A run, and the journal as it sees it."""

    run: Run
    store: Transactions
    blobs: Blobs
    workflow: str = ""
    """The segment that writes it, as the engine calls it."""

    def say(self, kind: str, key: str, **data: object) -> None:
        """Append an event of this run."""
        with self.store.write() as session:
            say(session, self.run, kind, key, **data)

    def hold(self) -> None:
        """See that the run is still ours, before something outside is changed; raises if it is not."""
        with self.store.write():
            pass

    @property
    def revision(self) -> int:
        """How often the settings of this run were renewed."""
        return int(self.run.options.get("revision", 0))

    def prepare(self, kind: str, name: str, **data: object) -> None:
        """Write down what was found out by the settings of now: tests, setup, or baseline."""
        revised: dict[str, object] = {"revision": self.revision} if self.revision else {}
        self.say(kind, _revised(name, self.revision), **data, **revised)

    def prepared(self, name: str, *, run: str | None = None) -> dict[str, Any]:
        """Return the newest of it, of this run or of another one of its plan."""
        of = self.run
        if run not in (None, of.run):
            with self.store.read() as session:
                of = runs.find(session, of.org, of.repo, run or "") or of
        for revision in range(int(of.options.get("revision", 0)), 0, -1):
            found = self._found(_revised(name, revision), of.run)
            if found is not None:
                return found.data
        return self.told(name, run=run)

    def told(self, key: str, *, run: str | None = None) -> dict[str, Any]:
        """Return the data of an event of this run, or of another one of its plan."""
        return self._event(key, run or self.run.run).data

    def has(self, key: str) -> bool:
        """Tell whether an event of this run was written."""
        return self._found(key, self.run.run) is not None

    def at(self, key: str) -> str:
        """Return when an event of this run was written."""
        return self._event(key, self.run.run).at

    def answered(self, questions: Mapping[_Asked, str]) -> dict[_Asked, Approval]:
        """Find the newest answers, in whatever run, to questions by their keys without the run's id."""
        if not questions:
            return {}
        org, repo = self.run.org, self.run.repo
        with self.store.read() as session:
            said = {
                one: approvals.last_answered(session, org, repo, under=f"{key}/")
                for one, key in questions.items()
            }
        return {one: answer for one, answer in said.items() if answer is not None}

    def frozen(self, phase_id: str, *, run: str | None = None) -> tuple[Phase, str]:
        """Return a phase as it was frozen, and its exact text: implementer and verifier get the same."""
        plan = read(self.frozen_plan(phase_id, run=run), ui_patterns=self.run.options.get("ui", ()))
        phase = the_phase(plan, phase_id)
        return phase, plan.verbatim(phase).decode("utf-8", "surrogateescape")

    def frozen_plan(self, phase_id: str, *, run: str | None = None) -> bytes:
        """Return the whole plan as it was when a phase was frozen."""
        return self.blobs.get(self.told(f"{phase_id}/begun", run=run)["text"])

    def reopens_at(self, ended: Result, overloads: int) -> str | None:
        """Return when an agent that was turned away is tried again, by the journal's clock; None: it was not.

        It was turned away by an overload so often in a row before.
        """
        if ended.ending != "limited" or asks(ended.cause):
            return None
        with self.store.read() as session:
            if ended.cause == "overload":
                return backs_off_until(overloads, session.now)
            return reopens_at(ended.resets_at, session.now)

    def author(self) -> Person:
        """Return who the outcome commits are by: git's own answer when the run began."""
        name, email, at = self.told("started")["author"]
        return Person(name=name, email=email, at=datetime.fromisoformat(at))

    def suites(self) -> dict[str, Suite]:
        """Return the suites by the names of their evidence; none where no test proves anything."""
        suites = suites_of(read_back(self.prepared("tests")))
        return dict(zip(names_of(suites), suites, strict=True))

    def setup(self) -> Setup:
        """Return how a checkout is made ready in this run."""
        told = self.prepared("setup")
        whole = self.blobs.get(told["script"]).decode() if told.get("script") else told["command"]
        return Setup(whole, told["digest"])

    def shown(self) -> list[Evidence]:
        """Return all evidence of this run, in order."""
        kept = [told["evidence"] for told in self._all_told() if "evidence" in told]
        return [evidence_from(one) for digest in kept for one in json.loads(self.blobs.get(digest))]

    def noticed(self, of: str) -> str | None:
        """Return the digest of what this run has noticed of a change before, by what it depends on."""
        return next((told["remarks"] for told in self._all_told() if told.get("inspected") == of), None)

    def baselines(self, tree: str, suite: str = TESTS) -> list[Counts]:
        """Return what a suite showed of a tree that was the base of any run of this plan."""
        with self.store.read() as session:
            every = [(one.kind, one.data) for one in whole_history(session, self.run.address)]
        found = []
        for digest in (data["evidence"] for kind, data in every if kind == _BASELINE and "evidence" in data):
            # What a run of long ago has shown may have been let go.
            with suppress(NotFound):
                shown = map(evidence_from, json.loads(self.blobs.get(digest)))
                found += [self.counts_of(one) for one in shown if (one.tree, one.name) == (tree, suite)]
        return [counts for counts in found if counts is not None]

    def _all_told(self) -> list[dict[str, Any]]:
        with self.store.read() as session:
            every = (event.data for event in whole_history(session, self.run.address))
            return [data for data in every if data.get("run") == self.run.run]

    def counts_of(self, tests: Evidence) -> Counts | None:
        """Count the tests of a suite again, from what its runner wrote then."""
        reported = from_report(self.blobs.get(tests.report)) if tests.report else None
        return reported or from_output(self.blobs.get(tests.output).decode("utf-8", "replace"))

    def baseline(self, suite: str = TESTS) -> Counts | None:
        """Return what a suite showed on the base; None where it was not counted."""
        kept = self.prepared("baseline").get("counts")
        held = None if kept is None else json.loads(self.blobs.get(kept))
        plain = held.get(suite) if isinstance(held, dict) else held
        if plain is None:
            return None
        counts = Counts(*plain)
        failures, passed, others = map(tuple, (counts.failures, counts.passed, counts.others))
        return counts._replace(failures=failures, passed=passed, others=others)

    def _found(self, key: str, run: str) -> Event | None:
        with self.store.read() as session:
            return keyed(session, self.run.address, f"{run}/{key}")

    def _event(self, key: str, run: str) -> Event:
        event = self._found(key, run)
        if event is None:
            raise LookupError(key)
        return event
