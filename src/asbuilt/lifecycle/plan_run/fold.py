"""Fold the events of a run into what is known of it. Kinds that mean nothing here are passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked
from asbuilt.events.attempts import (
    AttemptBegun,
    AttemptEnded,
    AttemptLost,
    ChecksDone,
    DriftFound,
    TogetherDone,
    TogetherJudged,
    TogetherUnjudged,
    TreeKept,
    TreeRefused,
    VerdictGiven,
    VerifierEnded,
)
from asbuilt.events.event import Entry, Event, phase_of
from asbuilt.events.landings import LandingDone, LandingIntended, LandingRefused, LandingTidied
from asbuilt.events.phases import (
    BaselineDone,
    PhaseBegun,
    PhaseProven,
    PhaseRechecked,
    SetupDone,
    SignOffWanted,
    TestsResolved,
    WorkspaceMade,
)
from asbuilt.events.plans import PlanCompared, PlanDiffers, PlanMarked, PlanNoted
from asbuilt.events.pulls import PullMerging, PullRefused
from asbuilt.events.questions import PullKey, key_in
from asbuilt.events.runs import (
    AttentionCalled,
    PauseAsked,
    ReportWritten,
    ResumeAsked,
    RunEnded,
    RunHastened,
    RunParked,
    RunStarted,
    RunTakenOver,
    SettingsChanged,
    TroubleMet,
)
from asbuilt.lifecycle.authoring.decide import CRITIC, role_of
from asbuilt.lifecycle.authoring.fold import hear_draft
from asbuilt.lifecycle.run.facts import (
    GOES_ON,
    PASS,
    Asked,
    AttemptFacts,
    Difference,
    DraftFacts,
    Landed,
    PhaseFacts,
    RunFacts,
    SignOff,
    Work,
)
from asbuilt.lifecycle.run.last_failure import last_failed
from asbuilt.lifecycle.run.money import caps_in, used_in
from asbuilt.lifecycle.run.pull_request import hear_pull, look_again, pull_in, start_over
from asbuilt.lifecycle.run.task import TaskFacts
from asbuilt.lifecycle.run.windows import window_in
from asbuilt.lifecycle.tasks.decide import hear_task
from asbuilt.proof.evidence import already_failing
from asbuilt.proof.projects.resolving import read_back

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.options import RunOptions


def fold(run: str, options: RunOptions, entries: Iterable[Entry]) -> RunFacts:
    """Fold the events of one run, in order; kinds that mean nothing here are passed over."""
    facts = RunFacts(
        run=run,
        kind=options.kind,
        mode=options.mode,
        auto=options.auto,
        hold=options.holds,
        way=options.landing,
        protected=bool(options.protected),
        wanted=options.phase,
        ring_required=options.requires_ring,
        branch=options.branch,
        caps=caps_in(options),
        window=window_in(options),
        draft=DraftFacts(
            slug=options.slug,
            in_conversation=options.is_in_conversation,
        ),
        pull=pull_in(options),
        task=TaskFacts(
            number=options.task.number if options.task else 0,
            operation=options.task.operation if options.task else "",
        ),
    )
    for entry in entries:
        event = entry.event
        if isinstance(event, PlanNoted):
            facts.untold.append(event.note)
        if entry.run != run:
            if isinstance(event, AttemptBegun):
                # Notes are for the plan's next attempt, in whatever run it begins.
                del facts.untold[: event.notes]
            continue
        if (used := used_in(event)) is not None:
            facts.costs |= dict([used])
        if not _is_handed_in(facts, event):
            facts.time.hear(entry)
        if isinstance(event, TroubleMet | RunParked):
            _hear_wait(facts, event, entry.at)
            continue
        if isinstance(event, RunTakenOver):
            facts.moves += 1
            continue
        if isinstance(event, AttentionCalled):
            continue
        # Anything else that was written down is progress.
        facts.troubles, facts.retry_at = 0, None
        facts.failed = last_failed(facts.failed, event)
        _hear(facts, event, entry.at)
        if facts.kind == "author":
            hear_draft(facts, entry)
        elif facts.kind == "task":
            hear_task(facts, event)
    return facts


def _is_handed_in(facts: RunFacts, event: Event) -> bool:
    """Tell whether a conversation has brought it, for which the run waits before and after."""
    phase = phase_of(event)
    return facts.draft.in_conversation and phase is not None and role_of(phase) != CRITIC


def _hear(facts: RunFacts, event: Event, at: str) -> None:
    match event:
        case RunStarted():
            _hear_start(facts, event)
        case SettingsChanged():
            _hear_setting(facts, event)
        case TestsResolved() | SetupDone() | BaselineDone():
            _hear_preparation(facts, event)
        case WorkspaceMade():
            facts.workspace = True
        case ApprovalAsked():
            facts.approvals.setdefault(event.key, None)
        case ApprovalAnswered():
            _hear_answer(facts, event)
        case PlanDiffers():
            facts.differs[event.phase] = Difference(event.point, event.commit, event.intent)
        case PlanCompared():
            _hear_comparison(facts, event.point)
        case SignOffWanted():
            facts.sign_offs[event.item] = SignOff(event.item, event.phase, event.question)
        case ReportWritten():
            facts.reported = True
        case PlanMarked():
            facts.marked = True
        case PauseAsked():
            facts.pause, facts.pause_at = event.reason, at
        case ResumeAsked():
            facts.pause = None
        case RunHastened():
            _hear_haste(facts)
        case RunEnded():
            facts.ended = event.state
            facts.reason, facts.next_step = event.reason, event.next
            facts.code = event.code
        case TogetherDone() | TogetherUnjudged() | TogetherJudged():
            _hear_together(facts, event)
        case LandingIntended() | LandingDone() | LandingRefused() | LandingTidied():
            _hear_landing(facts, event)
        case _:
            _hear_pull(facts, event)
            _hear_phase(facts, event, at)


def _hear_answer(facts: RunFacts, event: ApprovalAnswered) -> None:
    facts.approvals[event.key] = event.answer
    if event.answer == "yes" and isinstance(key_in(event.key), PullKey):
        look_again(facts.pull)


def _hear_setting(facts: RunFacts, event: SettingsChanged) -> None:
    """Hear that a setting changed: what was found out by another command is found out again."""
    facts.revision = event.revision
    if event.key in ("checks.tests", "checks.suites", "checks.counts"):
        # Other tests may need another setup; one that is the same has its results still.
        facts.tests, facts.tests_agreed, facts.setup, facts.baseline = None, False, None, None
    elif event.key in ("checks.setup", "setup.env", "setup.credentials"):
        facts.setup = facts.baseline = None
    elif event.key in ("checks.services", "checks.env"):
        facts.baseline = None


def _hear_preparation(facts: RunFacts, event: TestsResolved | SetupDone | BaselineDone) -> None:
    if event.revision < facts.revision:
        return  # It was under way with other settings when they changed; it is done again.
    match event:
        case TestsResolved():
            facts.tests, facts.tests_agreed = read_back(event), event.agreed is not None
        case SetupDone():
            facts.setup, facts.setup_reason = event.outcome, f"`{event.command}`: {event.why}"
        case BaselineDone():
            facts.baseline = event.outcome
            facts.baseline_shown, facts.baseline_asks = event.why, event.asks
            if event.outcome in (PASS, "FAIL") and event.ran is not None:
                failing = already_failing(event.ran, event.failed)
                facts.baseline_shown = failing or f"{event.ran} ran, {event.failed} failed"


def _hear_comparison(facts: RunFacts, point: str) -> None:
    facts.compared = point
    facts.differs = {phase: found for phase, found in facts.differs.items() if found.point == point}


def _hear_pull(facts: RunFacts, event: Event) -> None:
    hear_pull(facts.pull, event)
    # One that the forge may have merged is brought to its end, as a landing is.
    if isinstance(event, PullMerging):
        facts.landing = "intended"
    elif isinstance(event, PullRefused):
        facts.landing = None


def _hear_wait(facts: RunFacts, event: TroubleMet | RunParked, at: str) -> None:
    """Hear that it waits; that is no progress."""
    facts.parked_at = at
    if isinstance(event, TroubleMet):
        facts.troubles, facts.retry_at = facts.troubles + 1, event.retry_at
        facts.trouble, facts.trouble_next = event.what, event.next


def _hear_haste(facts: RunFacts) -> None:
    """Hear that somebody wants it to go on now: a limit is tried, whenever it was said to open."""
    for phase in (*facts.phases.values(), *facts.repairs.values()):
        for attempt in phase.attempts:
            attempt.resets_at = attempt.verifier_resets_at = None
    facts.pull.seen = None


def _hear_start(facts: RunFacts, event: RunStarted) -> None:
    facts.started, facts.base = True, event.base
    facts.branch_at, facts.of = event.branch_at, event.of
    facts.done_before = frozenset(event.done)
    facts.checked = event.checked
    facts.phases = {
        phase: PhaseFacts(phase, needs, event.titles.get(phase, "")) for phase, needs in event.phases.items()
    }
    facts.unlanded = tuple(Work(*work) for work in event.unlanded)
    facts.undoes = tuple(Landed(*one) for one in event.undoes)
    facts.drops = tuple(Work(*work) for work in event.drops)
    facts.ring, facts.ring_agreed = event.ring, event.ring_agreed
    if event.carried is not None:
        phase, facts.carried, failures = event.carried
        facts.phases[phase].carried = failures


def _hear_together(facts: RunFacts, event: TogetherDone | TogetherUnjudged | TogetherJudged) -> None:
    match event:
        case TogetherDone():
            facts.together, facts.apart = event.outcome, event.failures
        case TogetherUnjudged():
            _hear_verifier(facts.whole, event)
        case TogetherJudged():
            facts.whole.verdict, facts.whole.items = event.outcome, event.items
            facts.whole.judged = event.failures


def _hear_landing(
    facts: RunFacts, event: LandingIntended | LandingDone | LandingRefused | LandingTidied
) -> None:
    match event:
        case LandingIntended():
            facts.landing, facts.intent = "intended", event
        case LandingDone():
            facts.landing, facts.tip, facts.marked = "landed", event.new, False
            facts.marks_landed = event.marks
            facts.landed += [Landed(*one) for one in event.commits]
            start_over(facts.pull)
        case LandingRefused():
            facts.landing, facts.landing_reason, facts.landing_next = "refused", event.what, event.next
        case LandingTidied():
            facts.tidied = True


def _hear_phase(facts: RunFacts, event: Event, at: str) -> None:
    name = phase_of(event)
    phase = None if name is None else facts.phases.get(name) or facts.repairs.get(name)
    if phase is None:
        return
    match event:
        case PhaseBegun():
            phase.begun, phase.intent, phase.begun_at = True, event.intent, at
        case PhaseRechecked():
            facts.rechecked[phase.id] = event.outcome
            facts.failures += tuple(f"phase {phase.id}: {one}" for one in event.failures)
        case PhaseProven():
            phase.proven, phase.proven_at = event.commit, at
            phase.waived, phase.corrected = event.waived, event.corrected
            facts.works.append(Work(phase.id, facts.run, event.commit))
        case AttemptBegun():
            _hear_begun(facts, phase, event, at)
        case _:
            number = getattr(event, "number", 0)
            attempt = next((known for known in phase.attempts if known.number == number), None)
            if attempt is not None:
                _hear_attempt(attempt, event, at)


def _hear_begun(facts: RunFacts, phase: PhaseFacts, event: AttemptBegun, at: str) -> None:
    known = next((one for one in phase.attempts if one.number == event.number), None)
    if known is not None:
        known.starts += 1
        known.ending, known.is_lost = None, False
        return
    attempt = AttemptFacts(event.number, event.role, starts=1, began_at=at)
    attempt.notes, facts.untold[: event.notes] = tuple(facts.untold[: event.notes]), []
    phase.attempts.append(attempt)


def _hear_attempt(attempt: AttemptFacts, event: Event, at: str) -> None:
    match event:
        case AttemptEnded():
            _hear_ended(attempt, event, at)
        case AttemptLost():
            attempt.ending, attempt.reason, attempt.is_lost = "abandoned", event.reason, True
        case TreeRefused():
            attempt.refusals, attempt.refusal = attempt.refusals + 1, event.reason
        case TreeKept():
            attempt.commit, attempt.tree, attempt.changed = event.commit, event.tree, event.changed
        case ChecksDone():
            attempt.failures, attempt.evidence, attempt.remarks = (
                event.failures,
                event.evidence,
                event.remarks,
            )
            if event.unusable:
                attempt.unusable += 1
            else:
                attempt.checks = event.outcome
        case VerifierEnded():
            _hear_verifier(attempt, event)
        case DriftFound():
            attempt.numbers, attempt.stops, attempt.far = event.numbers, event.stops, event.far
            attempt.asks = tuple(Asked(*one) for one in event.asks)
        case VerdictGiven():
            attempt.verdict, attempt.items = event.outcome, event.items
            attempt.judged, attempt.unproven = event.failures, event.unproven
            attempt.failures = (*attempt.failures, *map(str, event.failures))
        case _:
            return


def _hear_ended(attempt: AttemptFacts, event: AttemptEnded, at: str) -> None:
    attempt.ending, attempt.reason, attempt.cause = event.ending, event.reason, event.cause
    attempt.overloads = attempt.overloads + 1 if event.cause == "overload" else 0
    attempt.resets_at, attempt.ended_start = event.resets_at, event.starts
    attempt.outside = event.outside or attempt.outside
    attempt.refused, attempt.says, attempt.ended_at = event.refused, event.says, at
    attempt.drift, attempt.output = event.drift, event.output


def _hear_verifier(attempt: AttemptFacts, event: VerifierEnded | TogetherUnjudged) -> None:
    attempt.verifier, attempt.verifier_reason = event.ending, event.reason
    attempt.verifier_resets_at, attempt.verifier_cause = event.resets_at, event.cause
    attempt.verifier_overloads = attempt.verifier_overloads + 1 if event.cause == "overload" else 0
    if attempt.verifier in GOES_ON:
        attempt.verifier_ended_start = event.starts
    else:
        attempt.lost_verifiers += 1
        attempt.verifier_ended_start = 0
