"""What is known about a run, folded from its events. Nothing here decides; nothing is stored twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from asbuilt.proof.resolving import read_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from asbuilt.proof.resolving import Resolved

Outcome = Literal["PASS", "FAIL", "NOT_RUN", "INDETERMINATE"]
PASS: Final = "PASS"  # noqa: S105 - a verdict


class Work(NamedTuple):
    """A proven phase: the run that proved it, and the commit that holds it."""

    phase: str
    run: str
    commit: str


class Landed(NamedTuple):
    """A proven phase on the target: the commit that stands for it there."""

    phase: str
    run: str
    commit: str
    stands: str


@dataclass(slots=True)
class AttemptFacts:
    """One frozen brief and what became of it."""

    number: int
    role: str
    ending: str | None = None
    reason: str = ""
    resets_at: str | None = None
    starts: int = 0
    commit: str | None = None
    tree: str | None = None
    changed: bool = True
    checks: Outcome | None = None
    failures: tuple[str, ...] = ()
    verifier: str | None = None
    """How the verifier of this attempt's tree ended; None while there was none."""
    verifier_resets_at: str | None = None
    verdict: Outcome | None = None
    began_at: str = ""
    ended_at: str = ""
    says: str = ""
    """The agent's last words: a claim."""
    evidence: str | None = None
    """Digest of what the checks have shown."""
    items: str | None = None
    """Digest of the verdict on every item."""

    @property
    def is_judgeable(self) -> bool:
        """Tell whether it has, or may still get, a tree to judge."""
        return self.ending in (None, "done", "limited")


@dataclass(slots=True)
class PhaseFacts:
    """A phase in this run."""

    id: str
    needs: tuple[str, ...] = ()
    title: str = ""
    begun: bool = False
    begun_at: str = ""
    intent: str | None = None
    attempts: list[AttemptFacts] = field(default_factory=list)
    proven: str | None = None
    """The commit that holds it, once it is proven."""
    proven_at: str = ""

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
    kind: str = "run"
    """run, land, or undo."""
    mode: str = "phase"
    auto: bool = False
    hold: bool = True
    way: str = "cherry-pick"
    """How it lands: cherry-pick (once, at the end), or direct (each phase as soon as it is proven)."""
    protected: bool = False
    """Nobody may push to the target directly."""
    wanted: str | None = None
    stop: str | None = None
    pause: str | None = None
    """Why a person wants it to wait; None when nobody does."""
    pause_at: str = ""
    started: bool = False
    base: str | None = None
    phases: dict[str, PhaseFacts] = field(default_factory=dict)
    done_before: frozenset[str] = frozenset()
    """Phases that were done when the run began, by the journal or the plan's own marks."""
    unlanded: tuple[Work, ...] = ()
    """What earlier runs have proven and nobody has landed, in order, when the run began."""
    branch_at: str | None = None
    """Where the plan's branch was when the run began."""
    of: str | None = None
    """For an undo: the run whose work is taken back."""
    undoes: tuple[Landed, ...] = ()
    drops: tuple[Work, ...] = ()
    """For an undo: what that run has proven and nobody has landed."""
    works: list[Work] = field(default_factory=list)
    """What this run has proven, in order: each commit builds on the one before."""
    branch: str = ""
    """Where it began, and where it lands."""
    tests: Resolved | None = None
    tests_agreed: bool = False
    """A person has said yes to this very proposal before, in whatever run."""
    workspace: bool = False
    setup: Outcome | None = None
    setup_reason: str = ""
    baseline: Outcome | None = None
    baseline_shown: str = ""
    approvals: dict[str, str | None] = field(default_factory=dict)
    """Questions of this run by their key: the answer, or None while nobody has given one."""
    together: Outcome | None = None
    reported: bool = False
    landing: str | None = None
    """intended, landed, or refused."""
    landing_reason: str = ""
    intent: Mapping[str, Any] | None = None
    """The last landing that was intended; one that was cut off is recovered from it."""
    landed: list[Landed] = field(default_factory=list)
    """What this run has landed."""
    tip: str | None = None
    """The target's tip after the last landing of this run."""
    marks_landed: bool = False
    """The plan's marks were part of that landing."""
    marked: bool = True
    """False while something has landed and the plan does not say so yet."""
    tidied: bool = False
    ended: str | None = None
    reason: str = ""
    code: int | None = None
    """What the command that looks on is to exit with, when a gate ended the run."""
    parked: str | None = None
    """What a run that waits is waiting for."""
    parked_at: str = ""
    parked_until: str | None = None
    cost_usd: float = 0.0

    @property
    def pending(self) -> tuple[Work, ...]:
        """What is proven and waits to be landed, in order."""
        landed = {one.commit for one in self.landed}
        return tuple(work for work in (*self.unlanded, *self.works) if work.commit not in landed)

    @property
    def base_now(self) -> str:
        """What the next phase builds on: the last landing of a direct run, the last proof, else the base."""
        if self.way == "direct" and self.tip is not None:
            return self.tip
        return self.works[-1].commit if self.works else self.base or ""

    @property
    def done(self) -> frozenset[str]:
        """Phases that are done by now."""
        return self.done_before | {work.phase for work in self.works}


def fold(run: str, options: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]]) -> RunFacts:
    """Fold the events of one run, in order; kinds that mean nothing here are passed over.

    Data may carry `at`, when its event was written; only people are shown it, nothing is decided by it.
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
        branch=str(options.get("branch", "")),
    )
    for kind, data in events:
        if data.get("run") == run:
            facts.cost_usd += float(data.get("cost_usd") or 0.0)
            _hear(facts, kind, data)
    return facts


def _hear(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    match kind:
        case "run.started":
            _hear_start(facts, data)
        case "tests.resolved":
            facts.tests, facts.tests_agreed = read_back(data), data.get("agreed") is not None
        case "workspace.made":
            facts.workspace = True
        case "setup.done":
            facts.setup, facts.setup_reason = data["outcome"], f"`{data.get('command')}`: {data.get('why')}"
        case "baseline.done":
            facts.baseline, facts.baseline_shown = data["outcome"], str(data.get("why", ""))
            if data.get("ran") is not None:
                facts.baseline_shown = f"{data['ran']} ran, {data['failed']} failed"
        case "approval.asked":
            facts.approvals.setdefault(str(data["key"]), None)
        case "approval.answered":
            facts.approvals[str(data["key"])] = data["answer"]
        case "together.done":
            facts.together = data["outcome"]
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
        case "run.parked":
            facts.parked, facts.parked_until = data["why"], data.get("until")
            facts.parked_at = str(data.get("at", ""))
        case "run.ended":
            facts.ended, facts.reason = data["state"], str(data.get("reason", ""))
            facts.code = data.get("code")
        case _ if kind.startswith("landing."):
            _hear_landing(facts, kind, data)
        case _:
            _hear_phase(facts, kind, data)


def _hear_start(facts: RunFacts, data: Mapping[str, Any]) -> None:
    facts.started = True
    facts.base = data["base"]
    facts.branch_at = data.get("branch_at")
    facts.of = data.get("of")
    facts.done_before = frozenset(data.get("done", ()))
    titles = data.get("titles", {})
    facts.phases = {
        phase: PhaseFacts(phase, tuple(needs), titles.get(phase, ""))
        for phase, needs in data.get("phases", {}).items()
    }
    facts.unlanded = tuple(Work(*work) for work in data.get("unlanded", ()))
    facts.undoes = tuple(Landed(*one) for one in data.get("undoes", ()))
    facts.drops = tuple(Work(*work) for work in data.get("drops", ()))


def _hear_landing(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    match kind:
        case "landing.intended":
            facts.landing, facts.intent = "intended", data
        case "landing.done":
            facts.landing, facts.tip, facts.marked = "landed", data["new"], False
            facts.marks_landed = bool(data.get("marks"))
            facts.landed += [Landed(*one) for one in data.get("commits", ())]
        case "landing.refused":
            facts.landing, facts.landing_reason = "refused", f"{data['what']} Next: {data['next']}"
        case _:
            return


def _hear_phase(facts: RunFacts, kind: str, data: Mapping[str, Any]) -> None:
    phase = facts.phases.get(str(data.get("phase")))
    if phase is None:
        return
    if kind == "phase.begun":
        phase.begun, phase.intent, phase.begun_at = True, data.get("intent"), str(data.get("at", ""))
        return
    if kind == "phase.proven":
        phase.proven, phase.proven_at = data["commit"], str(data.get("at", ""))
        facts.works.append(Work(phase.id, facts.run, data["commit"]))
        return
    number = int(data.get("number", 0))
    attempt = next((known for known in phase.attempts if known.number == number), None)
    if kind == "attempt.begun" and attempt is None:
        phase.attempts.append(AttemptFacts(number, data["role"], starts=1, began_at=str(data.get("at", ""))))
    elif attempt is None:
        return
    elif kind == "attempt.begun":
        attempt.starts += 1
        attempt.ending = None
    elif kind == "attempt.ended":
        attempt.ending, attempt.reason = data["ending"], str(data.get("reason", ""))
        attempt.resets_at, attempt.says = data.get("resets_at"), str(data.get("says", ""))
        attempt.ended_at = str(data.get("at", ""))
    elif kind == "tree.kept":
        attempt.commit, attempt.tree, attempt.changed = data["commit"], data["tree"], bool(data["changed"])
    elif kind == "checks.done":
        attempt.checks, attempt.failures = data["outcome"], tuple(data.get("failures", ()))
        attempt.evidence = data.get("evidence")
    elif kind == "verifier.begun":
        attempt.verifier = None
    elif kind == "verifier.ended":
        attempt.verifier, attempt.verifier_resets_at = data["ending"], data.get("resets_at")
    elif kind == "verdict.given":
        attempt.verdict, attempt.items = data["outcome"], data.get("items")
        attempt.failures = attempt.failures + tuple(data.get("failures", ()))
