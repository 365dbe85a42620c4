"""Fold the events of every kind of run: start, questions, pauses, attempts, waits and the end."""

from __future__ import annotations

from collections.abc import Iterable

from asbuilt.events import attempts, runs
from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.events.event import Entry, Event, phase_of
from asbuilt.events.phases import PhaseBegun, PhaseDelegated, PhaseReturned
from asbuilt.events.plans import PlanNoted
from asbuilt.lifecycle.run.facts import PASS, RESUMABLE, Asked, AttemptFacts, ChainFacts, PhaseFacts, RunFacts
from asbuilt.lifecycle.run.last_failure import last_failed
from asbuilt.lifecycle.run.money import UNREPORTED, used_in
from asbuilt.lifecycle.run.working_time import WAITS_ON


def fold_entries(facts: RunFacts, entries: Iterable[Entry]) -> None:
    """Fold the events of one run, in order."""
    for entry in entries:
        event = entry.event
        if isinstance(event, PlanNoted):
            facts.pending_notes.append(event.note)
        if entry.run != facts.run:
            if isinstance(event, attempts.AttemptBegun):
                # Notes go to the plan's next attempt, in whatever run it starts.
                del facts.pending_notes[: event.notes]
            continue
        if (used := used_in(event)) is not None:
            facts.costs |= dict([used])
        chain = facts.chain_of(event)
        if isinstance(event, runs.TroubleMet | runs.RunParked):
            _record_wait(chain, event, entry.at)
        elif isinstance(event, runs.RunTakenOver):
            chain.moves += 1
            _record_moved(facts, phase_of(event))
        elif not isinstance(event, runs.AttentionCalled):
            # Every other event is progress of its chain.
            chain.transient_errors, chain.retry_at = 0, None
            chain.wait = chain.wait if isinstance(event, WAITS_ON) else None
            chain.failed = last_failed(chain.failed, event)
            _record(facts, event, entry.at)
            facts.fold(entry)
        # A run works while one of its chains does.
        if facts.is_work(event) and (
            facts.is_waiting or not isinstance(event, runs.TroubleMet | runs.RunParked)
        ):
            facts.time.fold(entry)


def _record(facts: RunFacts, event: Event, at: str) -> None:
    match event:
        case runs.RunStarted():
            _record_start(facts, event)
        case ApprovalAsked():
            facts.approvals.setdefault(event.key, None)
        case ApprovalAnswered():
            facts.approvals[event.key] = event.answer
        case runs.PauseAsked():
            facts.pause, facts.pause_at = event.reason, at
        case runs.ResumeAsked():
            facts.pause = None
        case runs.RunEnded():
            facts.ended = event.state
            facts.reason, facts.code = event.reason, event.code
            facts.next_step, facts.other = event.next, event.other
        case _:
            _record_phase(facts, event, at)


def _record_start(facts: RunFacts, event: runs.RunStarted) -> None:
    facts.started, facts.base = True, event.base
    facts.done_before = frozenset(event.done)
    facts.phases = {
        phase: PhaseFacts(phase, needs, event.titles.get(phase, ""), phase in event.alone)
        for phase, needs in event.phases.items()
    }
    facts.sandbox_level, facts.unsandboxed_agreed = event.ring, event.ring_agreed


def _record_wait(chain: ChainFacts, event: runs.TroubleMet | runs.RunParked, at: str) -> None:
    """Record a wait; a wait is no progress."""
    chain.wait, chain.parked_at = event, at
    if isinstance(event, runs.TroubleMet):
        chain.transient_errors, chain.last_error, chain.retry_at = (
            chain.transient_errors + 1,
            event.what,
            event.retry_at,
        )
        chain.last_error_next_step = event.next


def _record_phase(facts: RunFacts, event: Event, at: str) -> None:
    name = phase_of(event)
    phase = None if name is None else facts.find(name)
    if phase is None:
        return
    match event:
        case PhaseBegun():
            phase.begun, phase.intent, phase.begun_at = True, event.intent, at
            phase.driven, phase.delegate, phase.is_edited = event.driven, event.delegate, event.edited
        case PhaseDelegated():
            phase.delegated = True
        case PhaseReturned():
            phase.returned, phase.returned_why = event.state, event.reason
        case attempts.AttemptBegun():
            _record_begun(facts, phase, event, at)
        case attempts.VerifierBegun():
            if (judged := phase.attempt(event.number)) is not None:
                fold_verifying(facts, judged, phase.id)
        case _:
            if (attempt := phase.attempt(getattr(event, "number", 0))) is not None:
                _record_attempt(attempt, event, at)


def _record_moved(facts: RunFacts, lane: str | None) -> None:
    """Mark the attempts and verifiers that were at work in a lane, or in the whole run."""
    for attempt in facts.attempts_in(lane):
        attempt.is_moved = attempt.is_moved or attempt.ending is None
        # A verifier that waits until its limit resets is not at work.
        is_judging = attempt.verifier_starts > 0 and attempt.verifier is None
        attempt.is_verifier_moved = attempt.is_verifier_moved or is_judging


def fold_verifying(facts: RunFacts, attempt: AttemptFacts, where: str) -> None:
    """Fold a start of a verifier; one that was lost with its worker has cost something unknown."""
    if attempt.is_verifier_moved:
        facts.costs[f"{where}.{attempt.number}v lost {len(facts.costs)}"] = UNREPORTED
    attempt.verifier_starts, attempt.is_verifier_moved = attempt.verifier_starts + 1, False


def _record_begun(facts: RunFacts, phase: PhaseFacts, event: attempts.AttemptBegun, at: str) -> None:
    known = phase.attempt(event.number)
    if known is not None:
        if known.is_moved:
            # The agent of the lost worker has cost something that no worker can report.
            facts.costs[f"{phase.id}.{known.number} start {known.starts}"] = UNREPORTED
        known.starts += 1
        known.ending, known.is_lost, known.is_moved = None, False, False
        return
    attempt = AttemptFacts(event.number, event.role, starts=1, began_at=at)
    attempt.notes, facts.pending_notes[: event.notes] = tuple(facts.pending_notes[: event.notes]), []
    phase.attempts.append(attempt)


def _record_attempt(attempt: AttemptFacts, event: Event, at: str) -> None:
    match event:
        case attempts.AttemptEnded():
            _record_ended(attempt, event, at)
        case attempts.AttemptLost():
            attempt.ending, attempt.reason, attempt.is_lost = "abandoned", event.reason, True
        case attempts.TreeRefused():
            attempt.refusals, attempt.refusal = attempt.refusals + 1, event.reason
        case attempts.TreeKept():
            attempt.commit, attempt.tree, attempt.changed = event.commit, event.tree, event.changed
        case attempts.ChecksDone():
            attempt.failures, attempt.evidence, attempt.remarks = (
                event.failures,
                event.evidence,
                event.remarks,
            )
            if event.unusable:
                attempt.unusable += 1
            else:
                attempt.checks = event.outcome
        case attempts.VerifierEnded():
            fold_verifier(attempt, event)
        case attempts.DriftFound():
            attempt.numbers, attempt.stops, attempt.far = event.numbers, event.stops, event.far
            attempt.asks = tuple(Asked(*ask) for ask in event.asks)
        case attempts.VerdictGiven():
            _record_verdict(attempt, event)


def _record_verdict(attempt: AttemptFacts, event: attempts.VerdictGiven) -> None:
    """Fold a verdict; a tester's counts like a verifier's, and keeps the verifier's items if it passes."""
    if event.role == "test":
        attempt.tested, attempt.tries = event.outcome, event.evidence
    if event.role != "test" or event.outcome != PASS:
        attempt.verdict, attempt.items = event.outcome, event.items
        attempt.judged, attempt.unproven = event.failures, event.unproven
    attempt.failures = (*attempt.failures, *map(str, event.failures))
    attempt.lost_verifiers = attempt.verifier_ended_start = attempt.verifier_overloads = 0
    attempt.verifier_starts, attempt.is_verifier_moved = 0, False
    attempt.verifier = attempt.verifier_cause = None


def _record_ended(attempt: AttemptFacts, event: attempts.AttemptEnded, at: str) -> None:
    attempt.ending, attempt.reason, attempt.cause = event.ending, event.reason, event.cause
    attempt.overloads = attempt.overloads + 1 if event.cause == "overload" else 0
    attempt.ended_start = event.starts
    attempt.outside = event.outside or attempt.outside
    attempt.refused, attempt.says, attempt.ended_at = event.refused, event.says, at
    attempt.drift, attempt.output = event.drift, event.output


def fold_verifier(attempt: AttemptFacts, event: attempts.VerifierEnded | attempts.TogetherUnjudged) -> None:
    """Fold how a verifier ended without a verdict."""
    attempt.verifier, attempt.verifier_reason = event.ending, event.reason
    attempt.verifier_cause = event.cause
    attempt.verifier_overloads = attempt.verifier_overloads + 1 if event.cause == "overload" else 0
    if attempt.verifier in RESUMABLE:
        attempt.verifier_ended_start = event.starts
    else:
        attempt.lost_verifiers += 1
        attempt.verifier_ended_start = attempt.verifier_starts = 0
