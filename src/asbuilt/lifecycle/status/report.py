"""The account of a run: what it promised and what came of it. Pure; proven is only what asbuilt has shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.run.timers import moment
from asbuilt.proof.numbers.margins import structural
from asbuilt.proof.remarks import failing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.lifecycle.delivery.facts import Landed, Work
    from asbuilt.lifecycle.status.timeline import Span
    from asbuilt.proof.evidence import Evidence
    from asbuilt.proof.failure import Failure
    from asbuilt.proof.numbers.drift import Number
    from asbuilt.proof.opinion import Opinion
    from asbuilt.proof.pictures import Picture
    from asbuilt.proof.remarks import Remark
    from asbuilt.proof.verdict import ItemVerdict, Promise, Waived

_WITH_A_TREE: Final = ("done", "limited", "not ended")
_WAITED_S: Final = 60
"""Who has waited for less has hardly waited."""


class AttemptAccount(NamedTuple):
    """One attempt, and what was found of its tree."""

    number: int
    role: str
    ending: str
    reason: str
    says: str
    """The agent's last words."""
    kept: str | None
    """The ref that has its tree."""
    evidence: tuple[Evidence, ...] = ()
    items: tuple[ItemVerdict, ...] = ()
    opinion: Opinion | None = None
    """What the verifier said, before it was looked up."""
    faults: tuple[str, ...] = ()
    """What was wrong with that as a whole."""
    remarks: tuple[Remark, ...] = ()
    """What was noticed about its changes."""
    numbers: tuple[Number, ...] = ()
    """What the phase states of numbers, as we measured them."""
    agent: str = ""
    began_at: str = ""
    ended_at: str = ""
    spent: Spent = Spent()
    """Of the agent and of its verifiers."""
    notes: tuple[str, ...] = ()
    """What people told it."""
    refused: tuple[str, ...] = ()
    """Hosts that its sandbox did not let it reach, each with the reason."""

    @property
    def was_cut_off(self) -> bool:
        """Tell whether it ended without a tree to judge: a stall, a crash, a time-out."""
        return self.ending not in _WITH_A_TREE


class PhaseAccount(NamedTuple):
    """A phase of the run: what it promised, and what came of it."""

    id: str
    title: str
    promised: tuple[Promise, ...]
    attempts: tuple[AttemptAccount, ...]
    proven: str | None
    landed: str | None
    waived: tuple[Waived, ...] = ()
    intent: str = ""
    signed: Mapping[str, str] = {}
    """What a person said to a change that wanted a sign-off, by the remark's key."""
    rechecked: tuple[Evidence, ...] = ()
    """What its checks have shown in a run that only verifies."""

    @property
    def judged(self) -> AttemptAccount | None:
        """The last attempt that was looked at."""
        looked_at = (one for one in reversed(self.attempts) if one.evidence or one.remarks)
        return next(looked_at, None)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What its checks have shown last."""
        return self.judged.evidence if self.judged else self.rechecked

    @property
    def fixes(self) -> int:
        """Count the attempts that had to mend one before."""
        return sum(attempt.role == "fix" for attempt in self.attempts)


class Outlined(NamedTuple):
    """A phase of the plan as the run found it, begun or not."""

    id: str
    title: str
    needs: tuple[str, ...]
    is_done_before: bool = False


class Decision(NamedTuple):
    """A question that the run put to a person, and the answer, if there is one."""

    name: str
    """`a7`."""
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
    """How often an agent has mended something of it."""
    broken: tuple[str, ...] | None
    """What its landing has left behind; None before it has landed."""
    warned: tuple[str, ...]


class Account(NamedTuple):
    """A run as its report tells it."""

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
    """Those that are still there."""
    title: str = ""
    began_at: str = ""
    ended_at: str = ""
    worked_s: float | None = None
    """Without the times in which it waited, as `limits.hours` counts it."""
    spent: Spent = Spent()
    ring: str = ""
    """What held agents and checks."""
    tests: str | None = None
    setup: str | None = None
    baseline: str = ""
    """What the tests showed before any work."""
    outline: tuple[Outlined, ...] = ()
    """Every phase of the plan, in its order."""
    spans: tuple[Span, ...] = ()
    decisions: tuple[Decision, ...] = ()
    whole: AttemptAccount | None = None
    """What was shown of all phases together; None where there was only one."""
    pictures: tuple[Picture, ...] = ()
    """What people see of it, as a command drew it."""
    pictured: str = ""
    """What went wrong with that, if anything did."""
    pull: PullAccount | None = None
    far: int = 0
    """How many numbers of the plan are far off."""
    failures: Mapping[str, Failure] = {}
    """The checks that did not pass, by the digest of their output."""
    failed: tuple[Failure, ...] = ()
    """What failed last."""
    next_step: str = ""
    """What the reason of its end advises."""

    @property
    def at_work_s(self) -> float | None:
        """Say how long of its time it has worked; None where it has hardly waited."""
        until = self.ended_at or self.at
        if self.worked_s is None or not self.began_at or not until:
            return None
        took_s = (moment(until) - moment(self.began_at)).total_seconds()
        return self.worked_s if took_s - self.worked_s >= _WAITED_S else None

    @property
    def advice(self) -> tuple[str, str] | None:
        """Say why the plan had better be refined, and by which command; None while it need not be."""
        why = structural(self.far)
        return (why, f"asbuilt plan refine {self.slug}") if why else None


class Sums(NamedTuple):
    """What was promised and what came of it, counted."""

    items: int
    checks: int
    items_proven: int
    checks_passed: int
    not_run: int
    waived: int


def sums(account: Account) -> Sums:
    """Count what was promised and what is proven: an item by its phase's proof, a check by what we ran."""
    items = checks = proven = passed = not_run = waived = 0
    for phase in account.phases:
        judged = phase.judged
        items += len(phase.promised)
        waived += len(phase.waived)
        proven += len(phase.promised) - len(phase.waived) if phase.proven else 0
        checks += len(phase.evidence)
        passed += sum(one.outcome == "PASS" for one in phase.evidence)
        not_run += sum(one.outcome == "NOT_RUN" for one in phase.evidence)
        not_run += sum(one.outcome == "NOT_RUN" for one in (judged.items if judged else ()))
    return Sums(items, checks, proven, passed, not_run, waived)


def notes(account: Account) -> list[tuple[str, str]]:
    """Say what to know of each phase: what had to be mended, begun anew, or was never proven."""
    told: list[tuple[str, str]] = []
    for phase in reversed(account.phases):
        again = [attempt for attempt in phase.attempts if attempt.was_cut_off]
        if phase.fixes:
            fixes = "1 fix" if phase.fixes == 1 else f"{phase.fixes} fixes"
            told.append((phase.id, f"{fixes}: {_first_failure(phase)}"))
        if again:
            told.append((phase.id, f"begun anew: {again[0].ending}, {again[0].reason}"))
        refused = dict.fromkeys(one for attempt in phase.attempts for one in attempt.refused)
        told += [(phase.id, f"the sandbox refused its agent {one}") for one in refused]
        if phase.proven is None and account.kind != "verify":
            told.append((phase.id, f"not proven: {_first_failure(phase) or account.reason}"))
    return told


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
    return ""
