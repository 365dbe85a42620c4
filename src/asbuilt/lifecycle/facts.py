"""What is known about a run, folded from its events. Nothing here decides; nothing is stored twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Outcome = Literal["PASS", "FAIL", "NOT_RUN", "INDETERMINATE"]
PASS: Final = "PASS"  # noqa: S105 - a verdict
GOES_ON: Final = ("limited", "abandoned")
"""Endings that are no fault of the agent: the same attempt goes on with another start."""


@dataclass(slots=True)
class AttemptFacts:
    """One frozen brief and what became of it."""

    number: int
    role: str
    ending: str | None = None
    reason: str = ""
    resets_at: str | None = None
    starts: int = 0
    ended_start: int = 0
    """Which start of its host ended so; a later start goes on from there."""
    refusals: int = 0
    """How often its tree could not be kept as it is, and why."""
    refusal: str = ""
    commit: str | None = None
    tree: str | None = None
    changed: bool = True
    checks: Outcome | None = None
    failures: tuple[str, ...] = ()
    verifier: str | None = None
    """How the verifier of this attempt's tree ended without a verdict; None while it has not."""
    verifier_reason: str = ""
    verifier_resets_at: str | None = None
    verifier_ended_start: int = 0
    lost_verifiers: int = 0
    """Verifiers that ended without having judged: a stall, a crash, a time-out."""
    verdict: Outcome | None = None

    @property
    def is_judgeable(self) -> bool:
        """Tell whether it has, or may still get, a tree to judge."""
        return self.ending in (None, "done", *GOES_ON)


@dataclass(slots=True)
class PhaseFacts:
    """A phase in this run."""

    id: str
    needs: tuple[str, ...] = ()
    begun: bool = False
    intent: str | None = None
    attempts: list[AttemptFacts] = field(default_factory=list)
    proven: str | None = None
    """The commit that holds it, once it is proven."""

    @property
    def fixes(self) -> int:
        """Count the cycles of fixing: one that stalled and was made anew is the same cycle."""
        return sum(attempt.role == "fix" and attempt.is_judgeable for attempt in self.attempts)

    @property
    def repeats(self) -> int:
        """Count the attempts that ended without a tree to judge: a stall, a crash, a time-out."""
        return sum(not attempt.is_judgeable for attempt in self.attempts)


@dataclass(slots=True)
class RunFacts:
    """Everything that the next move of a run depends on."""

    run: str
    mode: str = "phase"
    auto: bool = False
    hold: bool = True
    wanted: str | None = None
    stop: str | None = None
    troubles: int = 0
    """How often in a row it was kept from going on: the store, the disk, or a segment that broke off."""
    trouble: str = ""
    retry_at: str | None = None
    started: bool = False
    base: str | None = None
    phases: dict[str, PhaseFacts] = field(default_factory=dict)
    done_before: frozenset[str] = frozenset()
    """Phases that were done when the run began, by the journal or the plan's own marks."""
    commits: list[str] = field(default_factory=list)
    """What is proven, in the order in which it was: each commit builds on the one before."""
    compared: str | None = None
    """The last point at which the plan's file was compared with what is proven."""
    differs: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """Proven phases whose text the plan has changed meanwhile: at which point, and what it wants now."""
    workspace: bool = False
    setup: Outcome | None = None
    baseline: Outcome | None = None
    approvals: dict[str, str | None] = field(default_factory=dict)
    """Questions of this run by their key: the answer, or None while nobody has given one."""
    together: Outcome | None = None
    reported: bool = False
    landing: str | None = None
    """intended, landed, or refused."""
    landing_reason: str = ""
    marked: bool = False
    ended: str | None = None


def fold(run: str, options: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]]) -> RunFacts:
    """Fold the events of one run, in order; kinds that mean nothing here are passed over."""
    facts = RunFacts(
        run=run,
        mode=str(options.get("mode", "phase")),
        auto=bool(options.get("auto", False)),
        hold=bool(options.get("hold", not options.get("auto", False))),
        wanted=options.get("phase"),
    )
    for kind, data in events:
        if data.get("run") != run or kind == "run.parked":
            continue
        if kind == "trouble.met":
            facts.troubles, facts.trouble, facts.retry_at = facts.troubles + 1, data["what"], data["retry_at"]
            continue
        # Anything else that was written down is progress.
        facts.troubles, facts.retry_at = 0, None
        _hear(facts, kind, data)
    return facts


def _hear(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    match kind:
        case "run.started":
            facts.started = True
            facts.base = data["base"]
            facts.done_before = frozenset(data.get("done", ()))
            facts.phases = {
                phase: PhaseFacts(phase, tuple(needs)) for phase, needs in data.get("phases", {}).items()
            }
        case "workspace.made":
            facts.workspace = True
        case "setup.done":
            facts.setup = data["outcome"]
        case "baseline.done":
            facts.baseline = data["outcome"]
        case "approval.asked":
            facts.approvals.setdefault(str(data["key"]), None)
        case "approval.answered":
            facts.approvals[str(data["key"])] = data["answer"]
        case "plan.compared":
            facts.compared = str(data["point"])
            facts.differs = {
                phase: found for phase, found in facts.differs.items() if found[0] == facts.compared
            }
        case "together.done":
            facts.together = data["outcome"]
        case "report.written":
            facts.reported = True
        case "landing.intended":
            facts.landing = "intended"
        case "landing.done":
            facts.landing = "landed"
        case "landing.refused":
            facts.landing, facts.landing_reason = "refused", str(data.get("reason", ""))
        case "plan.marked":
            facts.marked = True
        case "run.ended":
            facts.ended = data["state"]
        case _:
            _hear_phase(facts, kind, data)


def _hear_phase(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    phase = facts.phases.get(str(data.get("phase")))
    if phase is None:
        return
    if kind == "phase.begun":
        phase.begun, phase.intent = True, data.get("intent")
        return
    if kind == "phase.proven":
        phase.proven = data["commit"]
        facts.commits.append(data["commit"])
        return
    if kind == "plan.differs":
        facts.differs[phase.id] = (str(data["point"]), data.get("intent"))
        return
    number = int(data.get("number", 0))
    attempt = next((known for known in phase.attempts if known.number == number), None)
    if kind == "attempt.begun" and attempt is None:
        phase.attempts.append(AttemptFacts(number, data["role"], starts=1))
    elif attempt is None:
        return
    elif kind == "attempt.begun":
        attempt.starts += 1
        attempt.ending = None
    elif kind == "attempt.ended":
        attempt.ending, attempt.reason = data["ending"], str(data.get("reason", ""))
        attempt.resets_at, attempt.ended_start = data.get("resets_at"), int(data.get("starts", 0))
    elif kind == "tree.refused":
        attempt.refusals, attempt.refusal = attempt.refusals + 1, str(data["reason"])
    elif kind == "tree.kept":
        attempt.commit, attempt.tree, attempt.changed = data["commit"], data["tree"], bool(data["changed"])
    elif kind == "checks.done":
        attempt.checks, attempt.failures = data["outcome"], tuple(data.get("failures", ()))
    elif kind == "verifier.ended":
        _hear_verifier(attempt, data)
    elif kind == "verdict.given":
        attempt.verdict = data["outcome"]
        attempt.failures = attempt.failures + tuple(data.get("failures", ()))


def _hear_verifier(attempt: AttemptFacts, data: Mapping[str, Any]) -> None:
    attempt.verifier, attempt.verifier_reason = data["ending"], str(data.get("reason", ""))
    attempt.verifier_resets_at = data.get("resets_at")
    if attempt.verifier in GOES_ON:
        attempt.verifier_ended_start = int(data.get("starts", 0))
    else:
        attempt.lost_verifiers += 1
        attempt.verifier_ended_start = 0
