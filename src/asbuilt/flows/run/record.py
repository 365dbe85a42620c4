"""The events of one run: read them, and write more. Every event is written once, under its key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import NotFound
from asbuilt.events.attempts import ChecksDone
from asbuilt.events.event import Entry, Event
from asbuilt.events.phases import BaselineDone, PhaseBegun, SetupDone, TestsResolved
from asbuilt.events.runs import RunStarted
from asbuilt.git.commits import Person
from asbuilt.journal import approvals, runs
from asbuilt.journal.approvals import Approval
from asbuilt.journal.events import append, keyed, of_kinds, whole_history
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.run.agent_stops import asks
from asbuilt.lifecycle.run.retry_times import backs_off_until, reopens_at
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.model import Phase, Plan
from asbuilt.plan.reader import read
from asbuilt.proof.counts import Counts, from_output, from_report
from asbuilt.proof.evidence import TESTS, Evidence, evidence_from
from asbuilt.proof.projects.model import Detected, NoTests, Setup, Suite, by_name, suites_of
from asbuilt.proof.projects.recorded import read_back
from asbuilt.proof.remarks import Remark

if TYPE_CHECKING:
    from asbuilt.git.fleet import SharedRefs
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session, Transactions
    from asbuilt.ports import Result

ACTOR: Final = "asbuilt"
Prepared = TestsResolved | SetupDone | BaselineDone
"""Events of the preparation before the first phase."""
_Asked = TypeVar("_Asked")
_Kind = TypeVar("_Kind", bound="Event")


def append_event(session: Session, run: Run, event: Event, key: str, *, actor: str = ACTOR) -> None:
    """Append an event of a run; its key joins the run's id and the step's key."""
    append(session, run.address, event, key=f"{run.run}/{key}", actor=actor, run=run.run)


def _revised(name: str, revision: int) -> str:
    # No phase id contains `@`, so this never equals a key of a phase.
    return f"{name}@{revision}" if revision else name


class Record(Struct, frozen=True, kw_only=True):
    """A run, with its journal and blobs."""

    run: Run
    store: Transactions
    blobs: Blobs
    shared: SharedRefs | None = None
    """The refs that workers of the fleet share; None for a run that stays on its machine."""

    def append(self, event: Event, key: str, also: Callable[[Session], None] | None = None) -> None:
        """Append an event of this run, once what it names is shared; `also` runs once, in its transaction."""
        if self.shared is not None:
            self.shared.publish()
        with self.store.write() as session:
            is_new = also is not None and keyed(session, self.run.address, f"{self.run.run}/{key}") is None
            append_event(session, self.run, event, key)
            if also is not None and is_new:
                also(session)

    def end_work(self, event: Event, key: str, phases: Collection[str]) -> None:
        """Append an event that ends the work on some phases, and withdraw the open questions about it."""
        self.append(
            event,
            key,
            also=lambda session: approvals.withdraw_about(session, self.run.address, phases, actor=ACTOR),
        )

    def hold(self) -> None:
        """Raise unless the run is still this worker's; call it before a change outside the journal."""
        with self.store.write():
            pass

    @property
    def revision(self) -> int:
        """Number of times that the settings of this run were renewed."""
        return self.run.options.revision or 0

    def prepare(self, event: Prepared, name: str) -> None:
        """Record a result of the preparation under the current settings: tests, setup, or baseline."""
        self.append(replace(event, revision=self.revision), _revised(name, self.revision))

    def prepared(self, kind: type[_Kind], name: str, *, run: str | None = None) -> _Kind:
        """Return the newest such result, of this run or of another run of its plan."""
        of = self.run
        if run not in (None, of.run):
            with self.store.read() as session:
                of = runs.find(session, of.org, of.repo, run or "") or of
        for revision in range(of.options.revision or 0, 0, -1):
            found = self.find(kind, _revised(name, revision), run=of.run)
            if found is not None:
                return found
        return self.event(kind, name, run=run)

    def event(self, kind: type[_Kind], key: str, *, run: str | None = None) -> _Kind:
        """Return an event of this run, or of another run of its plan, by its key."""
        event = self.find(kind, key, run=run)
        if event is None:
            raise LookupError(key)
        return event

    def find(self, kind: type[_Kind], key: str, *, run: str | None = None) -> _Kind | None:
        """Return an event by its key, as `event` does; None if it was not written."""
        found = self._found(key, run or self.run.run)
        return found.event if found is not None and isinstance(found.event, kind) else None

    def has(self, key: str) -> bool:
        """Return whether an event of this run was written."""
        return self._found(key, self.run.run) is not None

    def at(self, key: str) -> str:
        """Return when an event of this run was written."""
        found = self._found(key, self.run.run)
        if found is None:
            raise LookupError(key)
        return found.at

    def answered(self, questions: Mapping[_Asked, str]) -> dict[_Asked, Approval]:
        """Return the newest answers to questions, by the keys `under` which any run asks them."""
        if not questions:
            return {}
        org, repo = self.run.org, self.run.repo
        with self.store.read() as session:
            answers = {
                question: approvals.last_answered(session, org, repo, under=under)
                for question, under in questions.items()
            }
        return {key: answer for key, answer in answers.items() if answer is not None}

    def frozen(self, phase_id: str, *, run: str | None = None) -> tuple[Phase, str]:
        """Return a phase as it was frozen, and its exact text: implementer and verifier get the same."""
        plan = self.frozen_plan(phase_id, run=run)
        phase = the_phase(plan, phase_id)
        return phase, plan.verbatim(phase).decode("utf-8", "surrogateescape")

    def frozen_plan(self, phase_id: str, *, run: str | None = None) -> Plan:
        """Return the whole plan as it was when a phase was frozen."""
        text = self.blobs.get(self.event(PhaseBegun, f"{phase_id}/begun", run=run).text)
        return _read(text, ui_patterns=self.run.options.ui or ())

    def reopens_at(self, ended: Result, overloads: int) -> str | None:
        """Return when to retry an agent at its limit, or None; `overloads` counts those in a row before."""
        if ended.ending != "limited" or asks(ended.cause):
            return None
        with self.store.read() as session:
            if ended.cause == "overload":
                return backs_off_until(overloads, session.now)
            return reopens_at(ended.resets_at, session.now)

    def author(self) -> Person:
        """Return the author of the outcome commits, as git reported it when the run started."""
        name, email, at = self.event(RunStarted, "started").author or ("", "", self.run.at)
        return Person(name=name, email=email, at=datetime.fromisoformat(at))

    def suites(self, run: str | None = None) -> dict[str, Suite]:
        """Return the suites of this or another run by the names of their evidence; empty without tests."""
        return by_name(suites_of(read_back(self.prepared(TestsResolved, "tests", run=run))))

    def brought_tests(self) -> bool:
        """Return whether the plan's first run found no tests, so that all tests are from its own work."""
        with self.store.read() as session:
            every = of_kinds(session, self.run.address, [TestsResolved.kind])
        first = next((entry.event for entry in every if isinstance(entry.event, TestsResolved)), None)
        if first is None:
            return False
        found = read_back(first)
        return found == NoTests() or (isinstance(found, Detected) and not first.has_files)

    def had_no_tests(self, suite: str, base: str) -> bool:
        """Return whether a suite had no test before any work, and none on a phase's base."""
        if self.prepared(BaselineDone, "baseline").ran != 0:
            return False
        return not any(check.ran for check in self.shown() if (check.name, check.tree) == (suite, base))

    def setup(self) -> Setup:
        """Return the setup of a checkout in this run."""
        event = self.prepared(SetupDone, "setup")
        whole = self.blobs.get(event.script).decode() if event.script else event.command
        return Setup(whole, event.digest)

    def keep(self, shown: Iterable[Evidence | Remark]) -> str:
        """Keep evidence or remarks as a blob and return its digest."""
        return self.blobs.put_json([row._asdict() for row in shown])

    def shown(self, run: str | None = None) -> list[Evidence]:
        """Return all evidence of this run, or what is left of that of another run, in order."""
        return self._shown_by(self._all_events(run), may_be_gone=run is not None)

    def _shown_by(self, events: Iterable[Event], *, may_be_gone: bool) -> list[Evidence]:
        """Return the evidence of events; that of an old run may have been deleted."""
        found: list[Evidence] = []
        for digest in filter(None, (getattr(event, "evidence", None) for event in events)):
            with suppress(NotFound) if may_be_gone else nullcontext():
                found += map(evidence_from, self.blobs.get_json(digest))
        return found

    def noticed(self, of: str) -> str | None:
        """Return the digest of this run's remarks on a change, by the digest of what they depend on."""
        checks = (event for event in self._all_events() if isinstance(event, ChecksDone))
        return next((event.remarks for event in checks if event.inspected == of), None)

    def baselines(self, tree: str, suite: str = TESTS) -> list[Counts]:
        """Return the counts of a suite on a tree that was the base of any run of this plan."""
        with self.store.read() as session:
            every = [entry.event for entry in of_kinds(session, self.run.address, [BaselineDone.kind])]
        shown = self._shown_by(every, may_be_gone=True)
        found = [self.counts_of(proof) for proof in shown if (proof.tree, proof.name) == (tree, suite)]
        return [counts for counts in found if counts is not None]

    def _all_events(self, run: str | None = None) -> list[Event]:
        with self.store.read() as session:
            every = whole_history(session, self.run.address)
            return [entry.event for entry in every if entry.run == (run or self.run.run)]

    def counts_of(self, tests: Evidence) -> Counts | None:
        """Count the tests of a suite again, from its runner's report or output."""
        reported = from_report(self.blobs.get(tests.report)) if tests.report else None
        return reported or from_output(self.blobs.get(tests.output).decode("utf-8", "replace"))

    def baseline(self, suite: str = TESTS) -> Counts | None:
        """Return the counts of a suite on the base; None if it was not counted."""
        kept = self.prepared(BaselineDone, "baseline").counts
        held = None if kept is None else self.blobs.get_json(kept)
        plain = held.get(suite) if isinstance(held, dict) else held
        if plain is None:
            return None
        counts = Counts(*plain)
        failures, passed, others = map(tuple, (counts.failures, counts.passed, counts.others))
        return counts._replace(failures=failures, passed=passed, others=others)

    def _found(self, key: str, run: str) -> Entry | None:
        with self.store.read() as session:
            return keyed(session, self.run.address, f"{run}/{key}")


_read: Final = lru_cache(maxsize=8)(read)
"""Reads a frozen text once: a step of a run of ten phases needs it up to ten times."""
