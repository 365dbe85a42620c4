"""Report of a run: what it promised and what came of it. Pure; only what asbuilt has shown is proven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.delivery.facts import Landed, Work
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.run.retry_times import moment
from asbuilt.lifecycle.status.run_state import EDITED
from asbuilt.proof.drift.bands import structural
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.remarks import Remark, failing, for_a_person

if TYPE_CHECKING:
    from asbuilt.lifecycle.status.timeline import Span
    from asbuilt.proof.drift.measured_numbers import Number
    from asbuilt.proof.failure import Failure
    from asbuilt.proof.opinion import Opinion
    from asbuilt.proof.pictures import Picture
    from asbuilt.proof.verdict import ItemVerdict, Promise, Waived

_WITH_A_TREE: Final = ("done", "limited", "not ended")
_WAITED_S: Final = 60
"""Shorter waits are ignored."""


class AttemptAccount(NamedTuple):
    """One attempt, and the findings about its tree."""

    number: int
    role: str
    ending: str
    reason: str
    says: str
    kept: str | None
    """The ref with its tree."""
    evidence: tuple[Evidence, ...] = ()
    items: tuple[ItemVerdict, ...] = ()
    opinion: Opinion | None = None
    """The verifier's opinion, before asbuilt checked it."""
    faults: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    numbers: tuple[Number, ...] = ()
    """Numbers that the phase states, as measured."""
    claims: tuple[str, ...] = ()
    """What agents said about numbers, and lines about numbers that could not be read."""
    agent: str = ""
    began_at: str = ""
    ended_at: str = ""
    spent: Spent = Spent()
    """Of the agent and its verifiers."""
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """What was found against its tree, as its next fix was given it."""
    refused: tuple[str, ...] = ()
    """Hosts that the sandbox refused, each with the reason."""

    @property
    def was_cut_off(self) -> bool:
        """Return whether it ended without a tree to judge: a stall, a crash, a timeout."""
        return self.ending not in _WITH_A_TREE


class SignOff(NamedTuple):
    """A user's answer to a change that needed a sign-off."""

    answer: str
    by: str
    on: str
    note: str = ""

    @property
    def words(self) -> str:
        """Return the answer with its author, day and reason."""
        return f"{self.answer} by {self.by} on {self.on}" + (f": {self.note}" if self.note else "")

    @property
    def lead(self) -> str:
        """Return the start of a sentence about the change."""
        return f"{'signed off' if self.answer == 'yes' else 'sign-off declined'} by {self.by}"


class PhaseAccount(NamedTuple):
    """A phase of the run: its promises and results."""

    id: str
    title: str
    promised: tuple[Promise, ...]
    attempts: tuple[AttemptAccount, ...]
    proven: str | None
    landed: str | None
    waived: tuple[Waived, ...] = ()
    intent: str = ""
    signed: Mapping[str, SignOff] = {}
    """The user's answers to changes that needed a sign-off, by the remark's key."""
    rechecked: tuple[Evidence, ...] = ()
    checks: int = 0
    """Number of checks that the plan names for it."""
    is_edited: bool = False
    """Its text in the plan was changed while the run worked on earlier phases."""
    run: str = ""
    """Name of the earlier run that proved it; empty: the run of the report."""

    @property
    def judged(self) -> AttemptAccount | None:
        """The last attempt that has evidence or remarks."""
        looked_at = (attempt for attempt in reversed(self.attempts) if attempt.evidence or attempt.remarks)
        return next(looked_at, None)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The last evidence of its checks."""
        return self.judged.evidence if self.judged else self.rechecked

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims about numbers in its last attempt that has any."""
        return next((attempt.claims for attempt in reversed(self.attempts) if attempt.claims), ())

    @property
    def fixes(self) -> int:
        """Count the fix attempts."""
        return sum(attempt.role == "fix" for attempt in self.attempts)


class Outlined(NamedTuple):
    """A phase of the plan at the start of the run."""

    id: str
    title: str
    needs: tuple[str, ...]
    is_done_before: bool = False


class Decision(NamedTuple):
    """A question of the run to the user, and the answer, if any."""

    name: str
    kind: str
    question: str
    answer: str
    by: str
    at: str
    note: str


class PullAccount(NamedTuple):
    """The pull request by which a run lands."""

    number: int
    url: str
    mended: int
    broken: tuple[str, ...] | None
    """Leftovers of its landing; None before it has landed."""
    warned: tuple[str, ...]


class Account(NamedTuple):
    """A run, as reported."""

    name: str
    plan: str
    slug: str
    kind: str
    target: str
    branch: str
    state: str
    reason: str
    at: str
    """Now, UTC ISO 8601."""
    phases: tuple[PhaseAccount, ...] = ()
    """The newest first."""
    landed: tuple[Landed, ...] = ()
    pending: tuple[Work, ...] = ()
    undone: tuple[Landed, ...] = ()
    workspaces: tuple[str, ...] = ()
    title: str = ""
    began_at: str = ""
    ended_at: str = ""
    worked_s: float | None = None
    """Without waits, as `limits.hours` counts it."""
    spent: Spent = Spent()
    sandbox_level: str = ""
    tests: str | None = None
    setup: str | None = None
    baseline: str = ""
    outline: tuple[Outlined, ...] = ()
    """Every phase of the plan, in order."""
    spans: tuple[Span, ...] = ()
    decisions: tuple[Decision, ...] = ()
    whole: AttemptAccount | None = None
    """Results of all phases together; None for a single phase."""
    pictures: tuple[Picture, ...] = ()
    """Pictures of the result, as a command drew them."""
    pictured: str = ""
    """Error of that command, if any."""
    pull: PullAccount | None = None
    far: int = 0
    """Number of the plan's numbers that are far off."""
    failures: Mapping[str, Failure] = {}
    """Checks that did not pass, by the digest of their output."""
    failed: tuple[Failure, ...] = ()
    next_step: str = ""
    """Advice of the reason of its end."""
    other: str = ""
    """An alternative to that advice."""
    gaps: tuple[str, ...] = ()
    """Phrases which suggest that a phase of a completed plan is not done."""
    brief: frozenset[str] = frozenset()
    """Phases beyond the window of the page: only their last attempt with evidence is here."""

    @property
    def at_work_s(self) -> float | None:
        """Return the working time; None if the run waited for less than a minute."""
        until = self.ended_at or self.at
        if self.worked_s is None or not self.began_at or not until:
            return None
        took_s = (moment(until) - moment(self.began_at)).total_seconds()
        return self.worked_s if took_s - self.worked_s >= _WAITED_S else None

    @property
    def advice(self) -> tuple[str, str] | None:
        """Return why the plan should be refined, and the command; None if it need not be."""
        why = structural(self.far)
        return (why, f"asbuilt plan refine {self.slug}") if why else None


class Sums(NamedTuple):
    """Counts of promises and results."""

    items: int
    checks: int
    items_proven: int
    checks_passed: int
    not_run: int
    waived: int


def sums(account: Account) -> Sums:
    """Count promises and proofs: items by their phase's proof, checks by what asbuilt ran."""
    items = checks = proven = passed = not_run = waived = 0
    for phase in account.phases:
        judged = phase.judged
        items += len(phase.promised)
        waived += len(phase.waived)
        proven += len(phase.promised) - len(phase.waived) if phase.proven else 0
        checks += len(phase.evidence) or phase.checks
        passed += sum(evidence.outcome == "PASS" for evidence in phase.evidence)
        not_run += sum(evidence.outcome == "NOT_RUN" for evidence in phase.evidence)
        not_run += 0 if phase.evidence else phase.checks
        not_run += sum(item.outcome == "NOT_RUN" for item in (judged.items if judged else ()))
    return Sums(items, checks, proven, passed, not_run, waived)


def notes(account: Account) -> list[tuple[str, str]]:
    """Return notes on each phase: fixes, restarts, sign-offs, refused hosts, claims, edits, missing proof.

    Notes without a phase are about the run.
    """
    rows: list[tuple[str, str]] = []
    for phase in reversed(account.phases):
        again = [attempt for attempt in phase.attempts if attempt.was_cut_off]
        if phase.fixes:
            fixes = "1 fix" if phase.fixes == 1 else f"{phase.fixes} fixes"
            rows.append((phase.id, ": ".join(filter(None, (fixes, _first_failure(phase))))))
        if again:
            rows.append((phase.id, f"restarted: {again[0].ending}, {again[0].reason}"))
        refused = dict.fromkeys(target for attempt in phase.attempts for target in attempt.refused)
        rows += [(phase.id, f"the sandbox refused its agent {target}") for target in refused]
        rows += [(phase.id, claim) for claim in phase.claims]
        rows += [(phase.id, words) for words in _sign_offs(phase)]
        if phase.is_edited:
            rows.append((phase.id, EDITED))
        if phase.proven is None and account.kind != "verify":
            why = _first_failure(phase) or account.reason
            rows.append((phase.id, f"not proven: {why}" if why else "not proven yet"))
    if not account.phases:
        # A run that only lands has the answers; the run that proved the phase has the changes.
        rows += [("", _answered(row)) for row in reversed(account.decisions) if row.kind == "sign-off"]
    return rows


def _sign_offs(phase: PhaseAccount) -> list[str]:
    """Describe the changes of a proven phase that wait for a sign-off, and those that a user answered."""
    if phase.proven is None or phase.judged is None:
        return []
    by_lead: dict[str, list[str]] = {}
    for remark in for_a_person(phase.judged.remarks):
        given = phase.signed.get(remark.key)
        open_lead = "landed without a sign-off" if phase.landed else "waits for a sign-off"
        change = f"{remark.rule.replace('-', ' ')}, {remark.place}"
        by_lead.setdefault(given.lead if given else open_lead, []).append(change)
    return [f"{lead}: {change}" for lead, changes in by_lead.items() for change in changes]


def _answered(decision: Decision) -> str:
    lead = SignOff(decision.answer, decision.by, decision.at).lead if decision.answer else "waits for you"
    return f"{lead}: {decision.question}"


def _first_failure(phase: PhaseAccount) -> str:
    for attempt in phase.attempts:
        for remark in failing(attempt.remarks):
            return remark.words
        for check in attempt.evidence:
            if check.outcome != "PASS":
                return f"{check.name}: {check.outcome}, {check.why}"
        for item in attempt.items:
            if item.outcome != "PASS":
                return f"item {item.item}, {item.text}: {item.outcome}, {item.why}"
        if attempt.failures:
            return attempt.failures[0]
    return ""
