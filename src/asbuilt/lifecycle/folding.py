"""Fold the events of a run into what is known of it. Kinds that mean nothing here are passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from asbuilt.lifecycle.drafted import hear_draft
from asbuilt.lifecycle.drafting import CRITIC, role_of
from asbuilt.lifecycle.facts import (
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
    TaskFacts,
    Work,
)
from asbuilt.lifecycle.failing import advice_in, last_failed
from asbuilt.lifecycle.money import caps_in, spent_in
from asbuilt.lifecycle.pulled import hear_pull, look_again, pull_in, start_over
from asbuilt.lifecycle.tasks.course import hear_task
from asbuilt.lifecycle.windows import window_in
from asbuilt.proof.evidence import already_failing
from asbuilt.proof.projects.resolving import read_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


NOTED: Final = "plan.noted"
"""A person's note for the next attempt, in a plan's journal."""


def fold(run: str, options: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]]) -> RunFacts:
    """Fold the events of one run, in order; kinds that mean nothing here are passed over.

    Data may carry `at`, when its event was written: people are shown it, and hours of work are counted by it.
    """
    facts = RunFacts(
        run=run,
        kind=str(options.get("kind", "run")),
        mode=str(options.get("mode", "phase")),
        auto=bool(options.get("auto", False)),
        hold=bool(options.get("hold", not options.get("auto", False))),
        way=str(options.get("landing", "cherry-pick")),
        protected=bool(options.get("protected", False)),
        wanted=options.get("phase"),
        ring_required=bool(options.get("ring_required", True)),
        branch=str(options.get("branch", "")),
        caps=caps_in(options),
        window=window_in(options),
        draft=DraftFacts(
            slug=str(options.get("slug", "")),
            in_conversation=bool(options.get("authoring", {}).get("in_conversation")),
        ),
        pull=pull_in(options),
        task=TaskFacts(
            number=int(options.get("task", {}).get("number", 0)),
            operation=str(options.get("task", {}).get("operation", "")),
        ),
    )
    for kind, data in events:
        if kind == NOTED:
            facts.untold.append(str(data["note"]))
        if data.get("run") != run:
            if kind == "attempt.begun":
                # Notes are for the plan's next attempt, in whatever run it begins.
                del facts.untold[: int(data.get("notes", 0))]
            continue
        if "attempt" in data:
            facts.costs[data["attempt"]] = spent_in(data)
        if not _is_handed_in(facts, data):
            facts.time.hear(kind, data)
        if kind in ("trouble.met", "run.parked"):
            _hear_wait(facts, kind, data)
            continue
        if kind == "run.taken_over":
            facts.moves += 1
            continue
        if kind == "attention.called":
            continue
        # Anything else that was written down is progress.
        facts.troubles, facts.retry_at = 0, None
        facts.failed = last_failed(facts.failed, kind, data)
        _hear(facts, kind, data)
        if facts.kind == "author":
            hear_draft(facts, kind, data)
        elif facts.kind == "task":
            hear_task(facts, kind, data)
    return facts


def _is_handed_in(facts: RunFacts, data: Mapping[str, Any]) -> bool:
    """Tell whether a conversation has brought it, for which the run waits before and after."""
    return facts.draft.in_conversation and "phase" in data and role_of(str(data["phase"])) != CRITIC


def _hear(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    match kind:
        case "run.started":
            _hear_start(facts, data)
        case "settings.changed":
            _hear_setting(facts, data)
        case "tests.resolved" | "setup.done" | "baseline.done":
            _hear_preparation(facts, kind, data)
        case "workspace.made":
            facts.workspace = True
        case "approval.asked":
            facts.approvals.setdefault(str(data["key"]), None)
        case "approval.answered":
            _hear_answer(facts, str(data["key"]), data["answer"])
        case "plan.differs":
            found = Difference(data["point"], data["commit"], data["intent"])
            facts.differs[str(data["phase"])] = found
        case "plan.compared":
            _hear_comparison(facts, str(data["point"]))
        case "signoff.wanted":
            wanted = SignOff(data["item"], data["phase"], data["question"])
            facts.sign_offs[wanted.item] = wanted
        case "report.written":
            facts.reported = True
        case "plan.marked":
            facts.marked = True
        case "landing.tidied":
            facts.tidied = True
        case "run.pause_asked":
            facts.pause, facts.pause_at = str(data["reason"]), str(data.get("at", ""))
        case "run.resume_asked":
            facts.pause = None
        case "run.hastened":
            _hear_haste(facts)
        case "run.ended":
            facts.ended = data["state"]
            facts.reason, facts.next_step = advice_in(str(data.get("reason", "")))
            facts.code = data.get("code")
        case _ if kind.startswith("together."):
            _hear_together(facts, kind, data)
        case _ if kind.startswith("landing."):
            _hear_landing(facts, kind, data)
        case _ if kind.startswith(("pull.", "issues.")):
            _hear_pull(facts, kind, data)
        case _:
            _hear_phase(facts, kind, data)


def _hear_answer(facts: RunFacts, key: str, answer: str) -> None:
    facts.approvals[key] = answer
    if answer == "yes" and key.startswith(f"{facts.run}/pull/"):
        look_again(facts.pull)


def _hear_setting(facts: RunFacts, data: Mapping[str, Any]) -> None:
    """Hear that a setting changed: what was found out by another command is found out again."""
    facts.revision = int(data.get("revision", 0))
    if data["key"] in ("checks.tests", "checks.suites", "checks.counts"):
        # Other tests may need another setup; one that is the same has its results still.
        facts.tests, facts.tests_agreed, facts.setup, facts.baseline = None, False, None, None
    elif data["key"] in ("checks.setup", "setup.env", "setup.credentials"):
        facts.setup = facts.baseline = None
    elif data["key"] in ("checks.services", "checks.env"):
        facts.baseline = None


def _hear_preparation(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    if data.get("revision", 0) < facts.revision:
        return  # It was under way with other settings when they changed; it is done again.
    match kind:
        case "tests.resolved":
            facts.tests, facts.tests_agreed = read_back(data), data.get("agreed") is not None
        case "setup.done":
            facts.setup, facts.setup_reason = data["outcome"], f"`{data.get('command')}`: {data.get('why')}"
        case _:
            failing = already_failing(data.get("ran"), data.get("failed"))
            # Journals of before tell of a suite with known failures that it passed.
            facts.baseline = "FAIL" if failing and data["outcome"] == PASS else data["outcome"]
            facts.baseline_shown, facts.baseline_asks = str(data.get("why", "")), bool(data.get("asks"))
            if facts.baseline in (PASS, "FAIL") and data.get("ran") is not None:
                facts.baseline_shown = failing or f"{data['ran']} ran, {data['failed']} failed"


def _hear_comparison(facts: RunFacts, point: str) -> None:
    facts.compared = point
    facts.differs = {phase: found for phase, found in facts.differs.items() if found.point == point}


def _hear_pull(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    hear_pull(facts.pull, kind, data)
    # One that the forge may have merged is brought to its end, as a landing is.
    facts.landing = {"pull.merging": "intended", "pull.refused": None}.get(kind, facts.landing)


def _hear_wait(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    """Hear that it waits; that is no progress."""
    facts.parked_at = str(data.get("at", ""))
    if kind == "trouble.met":
        facts.troubles, facts.trouble, facts.retry_at = facts.troubles + 1, data["what"], data["retry_at"]


def _hear_haste(facts: RunFacts) -> None:
    """Hear that somebody wants it to go on now: a limit is tried, whenever it was said to open."""
    for phase in (*facts.phases.values(), *facts.repairs.values()):
        for attempt in phase.attempts:
            attempt.resets_at = attempt.verifier_resets_at = None
    facts.pull.seen = None


def _hear_start(facts: RunFacts, data: Mapping[str, Any]) -> None:
    facts.started, facts.base = True, data["base"]
    facts.branch_at = data.get("branch_at")
    facts.of = data.get("of")
    facts.done_before = frozenset(data.get("done", ()))
    facts.checked = data.get("checked", True)
    titles = data.get("titles", {})
    facts.phases = {
        phase: PhaseFacts(phase, tuple(needs), titles.get(phase, ""))
        for phase, needs in data.get("phases", {}).items()
    }
    facts.unlanded = tuple(Work(*work) for work in data.get("unlanded", ()))
    facts.undoes = tuple(Landed(*one) for one in data.get("undoes", ()))
    facts.drops = tuple(Work(*work) for work in data.get("drops", ()))
    facts.ring, facts.ring_agreed = str(data.get("ring", "")), bool(data.get("ring_agreed"))
    if "carried" in data:
        phase, facts.carried, failures = data["carried"]
        facts.phases[phase].carried = tuple(failures)


def _hear_together(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    match kind:
        case "together.done":
            facts.together, facts.apart = data["outcome"], tuple(data.get("failures", ()))
        case "together.unjudged":
            _hear_verifier(facts.whole, data)
        case "together.judged":
            facts.whole.verdict, facts.whole.items = data["outcome"], data.get("items")
            facts.whole.failures = tuple(data.get("failures", ()))
        case _:
            return


def _hear_landing(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    match kind:
        case "landing.intended":
            facts.landing, facts.intent = "intended", data
        case "landing.done":
            facts.landing, facts.tip, facts.marked = "landed", data["new"], False
            facts.marks_landed = bool(data.get("marks"))
            facts.landed += [Landed(*one) for one in data.get("commits", ())]
            start_over(facts.pull)
        case "landing.refused":
            facts.landing, facts.landing_reason = "refused", f"{data['what']} Next: {data['next']}"
        case _:
            return


def _hear_phase(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    name = str(data.get("phase"))
    phase = facts.phases.get(name) or facts.repairs.get(name)
    if phase is None:
        return
    if kind == "phase.begun":
        phase.begun, phase.intent, phase.begun_at = True, data.get("intent"), str(data.get("at", ""))
        return
    if kind == "phase.rechecked":
        facts.rechecked[phase.id] = data["outcome"]
        facts.failures += tuple(f"phase {phase.id}: {one}" for one in data.get("failures", ()))
        return
    if kind == "phase.proven":
        phase.proven, phase.proven_at = data["commit"], str(data.get("at", ""))
        phase.waived, phase.corrected = data.get("waived"), data.get("corrected")
        facts.works.append(Work(phase.id, facts.run, data["commit"]))
        return
    number = int(data.get("number", 0))
    attempt = next((known for known in phase.attempts if known.number == number), None)
    if kind == "attempt.begun" and attempt is None:
        taken = int(data.get("notes", 0))
        attempt = AttemptFacts(number, data["role"], starts=1, began_at=str(data.get("at", "")))
        attempt.notes, facts.untold[:taken] = tuple(facts.untold[:taken]), []
        phase.attempts.append(attempt)
    elif attempt is None:
        return
    elif kind == "attempt.begun":
        attempt.starts += 1
        attempt.ending, attempt.is_lost = None, False
    elif kind == "attempt.ended":
        attempt.ending, attempt.reason = data["ending"], str(data.get("reason", ""))
        attempt.cause = data.get("cause")
        attempt.overloads = attempt.overloads + 1 if attempt.cause == "overload" else 0
        attempt.resets_at, attempt.ended_start = data.get("resets_at"), int(data.get("starts", 0))
        attempt.outside = data.get("outside", attempt.outside)
        attempt.says, attempt.ended_at = str(data.get("says", "")), str(data.get("at", ""))
        attempt.drift, attempt.output = data.get("drift"), data.get("output")
    elif kind == "attempt.lost":
        attempt.ending, attempt.reason, attempt.is_lost = "abandoned", str(data["reason"]), True
    elif kind == "tree.refused":
        attempt.refusals, attempt.refusal = attempt.refusals + 1, str(data["reason"])
    elif kind == "tree.kept":
        attempt.commit, attempt.tree, attempt.changed = data["commit"], data["tree"], bool(data["changed"])
    elif kind == "checks.done":
        _hear_checks(attempt, data)
    elif kind == "verifier.ended":
        _hear_verifier(attempt, data)
    elif kind == "drift.found":
        attempt.numbers, attempt.stops = data["numbers"], tuple(data["stops"])
        attempt.asks = tuple(Asked(*one) for one in data["asks"])
        attempt.far = int(data.get("far", 0))
    elif kind == "verdict.given":
        attempt.verdict, attempt.items = data["outcome"], data.get("items")
        attempt.failures = attempt.failures + tuple(data.get("failures", ()))
        attempt.unproven = tuple(data.get("unproven", ()))


def _hear_checks(attempt: AttemptFacts, data: Mapping[str, Any]) -> None:
    attempt.failures = tuple(data.get("failures", ()))
    attempt.evidence, attempt.remarks = data.get("evidence"), data.get("remarks")
    if data.get("unusable"):
        attempt.unusable += 1
    else:
        attempt.checks = data["outcome"]


def _hear_verifier(attempt: AttemptFacts, data: Mapping[str, Any]) -> None:
    attempt.verifier, attempt.verifier_reason = data["ending"], str(data.get("reason", ""))
    attempt.verifier_resets_at, attempt.verifier_cause = data.get("resets_at"), data.get("cause")
    attempt.verifier_overloads = attempt.verifier_overloads + 1 if attempt.verifier_cause == "overload" else 0
    if attempt.verifier in GOES_ON:
        attempt.verifier_ended_start = int(data.get("starts", 0))
    else:
        attempt.lost_verifiers += 1
        attempt.verifier_ended_start = 0
