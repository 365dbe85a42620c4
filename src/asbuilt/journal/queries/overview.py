"""Views of runs and plans, computed from rows and events on read. Nothing here is stored.

Failures are read from their event and its blobs. Rule: facts that an older journal lacks are left out, never
invented.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.events.authoring import StageJudged, TaskJudged
from asbuilt.events.event import Entry, Event
from asbuilt.events.landings import LandingQueued
from asbuilt.events.options import RunOptions
from asbuilt.journal import approvals, claims, reviews, runs, schedules
from asbuilt.journal.approvals import Approval
from asbuilt.journal.claims import Claim
from asbuilt.journal.database.table import OF_PLAN, OF_REPO
from asbuilt.journal.encoding.codec import whole
from asbuilt.journal.events import whole_history
from asbuilt.journal.ids import Address
from asbuilt.journal.queries.facts_cache import Folds, PlanFold
from asbuilt.journal.queues import landing_queue
from asbuilt.journal.reviews import Review
from asbuilt.journal.runs import Run
from asbuilt.journal.schedules import Over, Schedule
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.kinds import Facts, fold
from asbuilt.lifecycle.plan_run.drift import drifted
from asbuilt.lifecycle.run.facts import AttemptFacts, PhaseFacts
from asbuilt.lifecycle.run.last_failure import FailedStep, failed_step
from asbuilt.lifecycle.run.money import Spent, total
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.status.run_state import (
    DONE,
    NEEDS_NEWER,
    NEXT,
    PhaseProgress,
    WaitsFor,
    lanes_wait_for,
    plan_progress,
    progress,
    waits_for,
)
from asbuilt.proof.evidence import evidence_from
from asbuilt.proof.failure import Failure, checkout_of, explained, failure_of

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session

Marks = Callable[[str], Iterable[str] | None]
"""Returns the phases that a plan's file marks as done; None: unreadable, so the journal's marks count."""
Entries = list[Entry]
"""The events of a plan, in order."""
_LISTED: Final = 50
_NO_RUN: Final = runs.Run("", "", "", "", 0, "", 0, RunOptions(), None, "", None)
"""Stands in for a run of a plan that has none: notes of users are folded with a run."""


class RunView(NamedTuple):
    """The state of one run."""

    run: Run
    name: str
    """Name that users type: `rate-limit.1`."""
    phases: list[PhaseProgress]
    waits_for: WaitsFor
    questions: list[Approval]
    spent: Spent
    exit_code: int | None
    """Exit code for the command if a gate ended the run; None for every other end."""
    far: int = 0
    review: Review | None = None
    failed: FailedStep | None = None
    blobs: Blobs | None = None
    """Store of that step's output."""
    lanes: tuple[WaitsFor, ...] = ()
    """What each of the phases waits for that are worked on side by side."""
    already_failing: str = ""
    """Description of test failures before any work; empty if there were none."""
    to_land: int = 0
    """Number of phases whose proven work has not landed, of this run and earlier ones."""
    base: str | None = None
    """The commit that it started from."""
    had_it: bool = False
    """The target had all of its work already, for example by another plan or a merge."""
    declined: str = ""
    """Who declined the landing of its proven work, and why; empty if it was not declined."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Read the failures of the last failed step, from disk each time."""
        return () if self.failed is None or self.blobs is None else failures_of(self.blobs, self.failed)

    @property
    def attempt(self) -> str | None:
        """Return the name of the attempt that it waits for, as in folders and refs."""
        return self.attempt_of(self.waits_for)

    def attempt_of(self, waits: WaitsFor) -> str | None:
        """Return the name of the attempt that it, or one of its lanes, waits for."""
        return f"{self.run.run}.{waits.phase}.{waits.attempt}" if waits.attempt else None

    @property
    def is_paused(self) -> bool:
        """Return whether it is paused at a safe point until a user resumes it."""
        return self.run.state == "paused" and self.waits_for.kind == "resume"

    @property
    def waits_for_conversation(self) -> bool:
        """Return whether it waits for a result from the conversation that authors it."""
        return self.run.state == "waiting" and self.waits_for.kind == "conversation"

    @property
    def waits_for_a_person(self) -> bool:
        """Return whether it waits for a user to act."""
        asks = self.run.state == "waiting" and bool(self.questions)
        return asks or self.is_paused or self.waits_for_conversation


class PlanView(NamedTuple):
    """One plan in the journal."""

    address: Address
    slug: str
    changed_at: str
    claim: Claim | None
    run: RunView | None
    """The newest run that changed something; a verification of finished work does not count."""
    phases: list[PhaseProgress]
    """State of each phase after all runs; empty if no run has started."""
    spent: Spent
    notes: tuple[str, ...] = ()
    schedule: Schedule | None = None
    over: Over | None = None
    """How its schedule ended, if it did since the newest run was requested."""
    vain_undo: RunView | None = None
    """An undo that reverted nothing, if no run has changed the plan since."""

    @property
    def done(self) -> int:
        """Count the phases that are done."""
        return sum(phase.state in DONE for phase in self.phases)

    @property
    def next(self) -> str | None:
        """Return the phase that a run would start with."""
        return next((phase.id for phase in self.phases if phase.state in NEXT), None)


def events_of(session: Session, blobs: Blobs, address: Address) -> Entries:
    """Return a plan's events in order, including the fields that are stored in blobs."""
    return [whole(entry, blobs.get) for entry in whole_history(session, address)]


def facts_of(session: Session, blobs: Blobs, run: Run) -> Facts:
    """Return the facts of a run."""
    return facts_from(run, events_of(session, blobs, run.address))


def facts_from(run: Run, events: Entries) -> Facts:
    """Return the facts of a run, folded from the events of its plan."""
    facts = fold(run.run, run.options, events)
    facts.stop = run.stop
    return facts


def run_view(session: Session, blobs: Blobs, run: Run, folds: Folds | None = None) -> RunView:
    """Return the state of a run; `folds`: facts that were kept from earlier reads."""
    folds = folds or Folds(blobs)
    with folds.held:
        return _run_view(session, blobs, run, folds.facts(session, run))


def _run_view(session: Session, blobs: Blobs, run: Run, facts: Facts) -> RunView:
    questions = approvals.waiting_of(session, run.org, run.repo, run.run)
    if isinstance(facts, DeliveryFacts) and facts.landing.line is not None:
        # The event has the place of then; others have landed since.
        ahead = landing_queue.ahead_of(session, run)
        if ahead:
            branch, behind = run.options.branch, ahead[-1]
            facts.landing.line = LandingQueued(branch=branch, ahead=len(ahead), behind=behind)
    waits = waits_for(facts, session.now)
    if run.is_newer and not run.is_over:
        waits = WaitsFor("person", since=run.at, why=NEEDS_NEWER)
    return RunView(
        run,
        run.name,
        progress(facts, session.now),
        waits,
        questions,
        facts.spent,
        facts.code,
        drifted(facts),
        reviews.find(session, run.address)
        if any(approval.kind == "plan" for approval in questions)
        else None,
        facts.failed,
        blobs,
        tuple(lanes_wait_for(facts, session.now)),
        facts.baseline_shown if isinstance(facts, ProvingFacts) and facts.baseline == "FAIL" else "",
        len({work.phase for work in facts.pending}) if isinstance(facts, DeliveryFacts) else 0,
        facts.base,
        isinstance(facts, DeliveryFacts) and facts.landing.had_it,
        facts.declined if isinstance(facts, DeliveryFacts) else "",
    )


def plan_view(
    session: Session,
    blobs: Blobs,
    address: Address,
    folds: Folds | None = None,
    *,
    marks: Marks | None = None,
) -> PlanView | None:
    """Return the state of a plan; None if the journal has no such plan."""
    rows = session.rows(f"SELECT slug, changed_at FROM heads WHERE {OF_PLAN}", **address._asdict())
    return _view(session, blobs, folds or Folds(blobs), address, rows[0], marks) if rows else None


def plan_views(
    session: Session,
    blobs: Blobs,
    org: str,
    repo: str,
    folds: Folds | None = None,
    *,
    marks: Marks | None = None,
) -> list[PlanView]:
    """Return the states of a repository's plans, the most recently changed first."""
    newest = f"WHERE {OF_REPO} ORDER BY changed_at DESC, plan LIMIT {_LISTED}"
    rows = session.rows(f"SELECT plan, slug, changed_at FROM heads {newest}", org=org, repo=repo)
    folds = folds or Folds(blobs)
    return [_view(session, blobs, folds, Address(org, repo, row["plan"]), row, marks) for row in rows]


def _view(
    session: Session,
    blobs: Blobs,
    folds: Folds,
    address: Address,
    head: Mapping[str, Any],
    marks: Marks | None,
) -> PlanView:
    every = runs.of_plan(session, address)
    standing_run = runs.standing(every)
    # Nearly always the newest run is enough; others are folded when they are asked for.
    undo = runs.vain_undo(every)
    wanted = [run for run in every if run in (every[0], standing_run, undo)]
    with folds.held:
        fold = folds.of(session, address, wanted or [_NO_RUN._replace(**address._asdict())])
        known = {name: facts for name, (_, facts) in fold.facts.items()}
        known_runs = ((run, known[run.run] if run in wanted else folds.facts(session, run)) for run in every)
        return PlanView(
            address,
            head["slug"],
            head["changed_at"],
            claims.find(session, address),
            None
            if standing_run is None
            else _run_view(session, blobs, standing_run, known[standing_run.run]),
            _phases(known_runs, fold, session.now, lambda: marks and marks(address.plan)),
            total(fold.used.values()),
            tuple(known[every[0].run if every else ""].pending_notes),
            schedules.find(session, address),
            schedules.over(session, address, since=every[0].at if every else ""),
            None if undo is None else _run_view(session, blobs, undo, known[undo.run]),
        )


def _phases(
    newest_first: Iterable[tuple[Run, Facts]],
    fold: PlanFold,
    now: str,
    marks: Callable[[], Iterable[str] | None],
) -> list[PhaseProgress]:
    """Merge the results of all runs into the outline of the newest run that has one.

    The plan's file is read only if a mark decides about a phase: parsing it is slow.
    """
    for run, facts in newest_first:
        # The stages of a finished authoring run are not phases of its plan.
        if facts.started and not (facts.plans and run.is_over):
            rows, standing = progress(facts, now), fold.standing
            by_mark = any(phase.state == "done" and phase.id not in standing.proofs for phase in rows)
            marked = marks() if by_mark or standing.by_hand else None
            return plan_progress(
                rows,
                standing,
                fold.proven_at,
                is_over=run.is_over,
                marked=marked,
                sign_offs=fold.sign_offs,
            )
    return []


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
    judged: str
    """How asbuilt judged the output of a stage; empty for attempts that change files."""


def attempts_of(session: Session, blobs: Blobs, address: Address, *, limit: int = 50) -> list[AttemptView]:
    """List the attempts of a plan's last runs."""
    entries = events_of(session, blobs, address)
    judged = {
        f"{entry.run}.{entry.event.phase}.{entry.event.number}": entry.event.outcome
        for entry in entries
        if isinstance(entry.event, StageJudged | TaskJudged)
    }
    found = []
    for run in runs.of_plan(session, address, limit=limit):
        phases = fold(run.run, run.options, entries).phases.values()
        found += [
            _attempt_view(run, phase, attempt, judged) for phase in phases for attempt in phase.attempts
        ]
    return sorted(found, key=lambda attempt: attempt.facts.began_at, reverse=True)


def _attempt_view(run: Run, phase: PhaseFacts, facts: AttemptFacts, judged: Mapping[str, str]) -> AttemptView:
    id_ = f"{run.run}.{phase.id}.{facts.number}"
    return AttemptView(
        name=f"{run.name}.{phase.id}.{facts.number}",
        id=id_,
        run=run.run,
        phase=phase.id,
        facts=facts,
        is_proven=phase.proven is not None and facts is phase.attempts[-1],
        judged=judged.get(id_, ""),
    )


def failures_in(blobs: Blobs, event: Event) -> tuple[Failure, ...]:
    """Return the failures of the step that an event reports; empty if it did not fail."""
    step = failed_step(event)
    return () if step is None else failures_of(blobs, step)


def failures_of(blobs: Blobs, step: FailedStep) -> tuple[Failure, ...]:
    """Return the failures of a step, in the order in which its commands ran."""
    kept = _blob(blobs, step.evidence)
    if kept:
        shown = (evidence_from(row) for row in json.loads(kept))
        found = tuple(
            failure_of(evidence, _blob(blobs, evidence.output), on_base=step.what == "baseline")
            for evidence in shown
            if evidence.outcome != "PASS"
        )
        return tuple(failure._replace(next_command="") for failure in found) if step.is_advised else found
    if not step.command and step.output is None and step.exit_code is None:
        # Only the event's text is known: an older journal, or a change that was refused before any command
        # ran.
        return ()
    folder = step.folder or (checkout_of("") if step.what == "setup" else "")
    failure = Failure(
        step.what, step.command, folder, step.exit_code, timed_out=step.timed_out, duration_s=step.duration_s
    )
    return (explained(failure, _blob(blobs, step.output), agent=step.agent),)


def _blob(blobs: Blobs, digest: str | None) -> bytes:
    """Read a blob; empty if it was deleted or is damaged."""
    with suppress(NotFound, StoreFailed):
        return b"" if digest is None else blobs.get(digest)
    return b""
