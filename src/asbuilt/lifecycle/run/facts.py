"""Facts that all kinds of run share, folded from their events; each kind has its own subclass."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeVar

from msgspec import Struct, field

from asbuilt.events.event import Cause, Entry, Event, Failure, Outcome
from asbuilt.events.options import RunKind, RunOptions
from asbuilt.events.questions import QuestionKey, key_in
from asbuilt.events.runs import RunParked, TroubleMet
from asbuilt.lifecycle.run.agent_stops import Breaker, asks
from asbuilt.lifecycle.run.money import UNCAPPED, Caps, Spent, caps_in, total
from asbuilt.lifecycle.run.working_hours import Window, window_in
from asbuilt.lifecycle.run.working_time import WorkTime

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.last_failure import FailedStep

_Key = TypeVar("_Key", bound=QuestionKey)
PASS: Final = "PASS"  # noqa: S105 - a verdict
RESUMABLE: Final = ("limited", "abandoned")
"""Endings that the agent did not cause: the same attempt starts again."""
MERGE: Final = "merge"
"""Role of an attempt without an agent: the merge of a proven attempt with other phases."""
WHOLE: Final = "all_phases"
"""Address of the verifiers of all phases together; no phase of a plan can have this name."""


class Asked(NamedTuple):
    """A number that differs from the plan: the item, the measured value, and the text for the user."""

    item: int
    actual: int
    is_flagged: bool
    """An agent flagged it; otherwise it is first sent back for a fix."""
    words: str


class AttemptFacts(Struct):
    """One frozen brief and its result."""

    number: int
    role: str
    ending: str | None = None
    reason: str = ""
    cause: Cause | None = None
    overloads: int = 0
    starts: int = 0
    ended_start: int = 0
    """The start of the host that ended; a later start resumes from it."""
    is_lost: bool = False
    """Its files were on a lost machine and not kept: the same attempt starts again."""
    is_moved: bool = False
    """Another worker has taken over while its agent worked."""
    refusals: int = 0
    """Number of times its tree could not be kept, and the last reason."""
    refusal: str = ""
    commit: str | None = None
    tree: str | None = None
    conflicts: tuple[str, ...] = ()
    changed: bool = True
    checks: Outcome | None = None
    unusable: int = 0
    """Number of inconclusive check runs: killed, timed out, or run on another tree's code."""
    failures: tuple[str, ...] = ()
    """Failures of its checks and its verdict, as text for the next fix."""
    judged: tuple[Failure, ...] = ()
    verifier: str | None = None
    """How the verifier of this attempt's tree ended without a verdict; None if it did not."""
    verifier_reason: str = ""
    verifier_cause: Cause | None = None
    verifier_overloads: int = 0
    verifier_ended_start: int = 0
    verifier_starts: int = 0
    """Recorded starts of its verifier that has no verdict yet."""
    is_verifier_moved: bool = False
    """Another worker has taken over while its verifier worked."""
    lost_verifiers: int = 0
    """Verifiers that ended without a verdict (a stall, a crash, a timeout)."""
    verdict: Outcome | None = None
    tested: Outcome | None = None
    """Verdict of the tester who drove the interface."""
    tries: str | None = None
    """Digest of the evidence of the tester's tries."""
    began_at: str = ""
    ended_at: str = ""
    says: str = ""
    """The agent's last message: a claim."""
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """The users' notes that it got at its start."""
    evidence: str | None = None
    """Digest of the evidence of its checks."""
    outside: str | None = None
    """Digest of its changes outside the workspace."""
    remarks: str | None = None
    """Digest of the remarks on its changes."""
    items: str | None = None
    """Digest of the verdict on every item."""
    unproven: tuple[int, ...] = ()
    """Items that a user could accept as they are."""
    drift: str | None = None
    """Digest of the agent's statements about numbers: a claim."""
    numbers: str | None = None
    """Digest of the measurements of the phase's numbers."""
    far: int = 0
    asks: tuple[Asked, ...] = ()
    """Numbers whose correction would turn the verdict into a PASS."""
    stops: tuple[str, ...] = ()
    """Numbers that were corrected before and are wrong again, as text."""
    output: str | None = None
    """Digest of the output that it submitted, for a stage of authoring."""

    @property
    def is_judgeable(self) -> bool:
        """Return whether it has, or may still get, a tree to judge."""
        return self.ending in (None, "done", *RESUMABLE)


class PhaseFacts(Struct):
    """A phase in this run."""

    id: str
    needs: tuple[str, ...] = ()
    title: str = ""
    alone: bool = False
    """It runs beside no other phase."""
    carried: tuple[str, ...] = ()
    """Failures at the end of an earlier run; this run continues from that run's tree."""
    begun: bool = False
    begun_at: str = ""
    intent: str | None = None
    delegate: str = ""
    """The plan that it is delegated to; empty: an agent works on it."""
    delegated: bool = False
    returned: str | None = None
    """State in which the run of that plan ended, or `unproven`; None while it runs."""
    returned_why: str = ""
    driven: bool = False
    """A tester drives its interface before it is proven."""
    attempts: list[AttemptFacts] = field(default_factory=list)
    proven: str | None = None
    """Its commit, once it is proven."""
    is_edited: bool = False
    """Its text in the plan was changed while the run worked on earlier phases."""
    proven_at: str = ""
    sign_offs: int = 0
    """Number of its changes that a user has to sign off before it lands."""
    waived: str | None = None
    """Digest of the unmet items that a user accepted, with the reasons."""
    corrected: str | None = None
    """Digest of its numbers that are corrected when it lands."""

    def attempt(self, number: int) -> AttemptFacts | None:
        """Return an attempt by its number."""
        return next((attempt for attempt in self.attempts if attempt.number == number), None)

    @property
    def fixes(self) -> int:
        """Count the fix cycles.

        A fix attempt without a tree to judge is not counted, nor is one fix after each failed merge with
        other phases: the agent did not cause it.
        """
        fixes = sum(attempt.role == "fix" and attempt.is_judgeable for attempt in self.attempts)
        merges = sum(attempt.role == MERGE and attempt.checks == "FAIL" for attempt in self.attempts)
        return max(0, fixes - merges)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Paths that had conflict markers when the phase was merged last."""
        merges = (attempt.conflicts for attempt in self.attempts if attempt.role == MERGE)
        return next((paths for paths in reversed([*merges])), ())

    @property
    def repeats(self) -> int:
        """Count attempts without a tree to judge (a stall, a crash), unless their cause needs the user."""
        return sum(not attempt.is_judgeable and not asks(attempt.cause) for attempt in self.attempts)


class ChainFacts(Struct):
    """One chain of segments: the run's own, or that of a lane."""

    transient_errors: int = 0
    """Transient errors in a row: of the database, the disk, or an interrupted segment."""
    last_error: str = ""
    last_error_next_step: str = ""
    retry_at: str | None = None
    moves: int = 0
    """Number of takeovers by another worker, and of new bases; each has its own workspace."""
    failed: FailedStep | None = None
    """The last failed step that has not succeeded since."""
    wait: RunParked | TroubleMet | None = None
    """Its current wait; None while it works."""
    parked_at: str = ""
    """When its current wait started."""


class RunFacts(Struct):
    """Facts that the next move of every kind of run depends on."""

    kind: ClassVar[RunKind]
    plans: ClassVar[bool] = False
    """It writes a plan and no code: its phases are stages, and none is proven."""
    run: str
    auto: bool = False
    sandbox_required: bool = True
    branch: str = ""
    """The branch on which it starts and lands."""
    slug: str = ""
    """The plan's name, for the commands that a user types."""
    stop: str | None = None
    pause: str | None = None
    """Why the user paused it; None: not paused."""
    pause_at: str = ""
    chains: dict[str, ChainFacts] = field(default_factory=lambda: {"": ChainFacts()})
    """Its chains of segments, by lane; the run's own chain has an empty name."""
    at: str = ""
    """The lane from which these facts are seen: decisions and workspaces are those of this lane."""
    started: bool = False
    base: str | None = None
    phases: dict[str, PhaseFacts] = field(default_factory=dict)
    done_before: frozenset[str] = frozenset()
    """Phases done at the start of the run, by journal or marks; for authoring: accepted stages."""
    sandbox_level: str = ""
    """The sandbox of this machine when the run started."""
    unsandboxed_agreed: bool = False
    """The user agreed before to work here without a sandbox."""
    approvals: dict[str, str | None] = field(default_factory=dict)
    """Answers to this run's questions, by key; None while unanswered."""
    ended: str | None = None
    reason: str = ""
    next_step: str = ""
    other: str = ""
    """An alternative to the next step."""
    code: int | None = None
    """Exit code of the command that follows the run, if a gate ended it."""
    costs: dict[str, Spent] = field(default_factory=dict)
    """Usage of each attempt and verifier, over all its starts."""
    pending_notes: list[str] = field(default_factory=list)
    """The users' notes that no attempt has got yet."""
    caps: Caps = UNCAPPED
    window: Window | None = None
    """Hours in which it may start something; None: any."""
    breakers: dict[str, Breaker] = field(default_factory=dict)
    """By role, the breaker of its agent's account; a role without an agent of its own has an empty name.

    Not folded from events: a worker reads it before it starts an agent.
    """
    time: WorkTime = field(default_factory=WorkTime)

    def take(self, options: RunOptions) -> None:
        """Copy the options that decisions depend on."""
        self.auto, self.branch, self.slug = options.auto, options.branch, options.slug
        self.sandbox_required = options.requires_sandbox
        self.caps, self.window = caps_in(options), window_in(options.between)

    def fold(self, entry: Entry) -> None:
        """Fold an event of this kind of run; `run.fold.record` has folded what all kinds share."""

    @property
    def spent(self) -> Spent:
        """What the run has spent."""
        return total(self.costs.values())

    @property
    def chain(self) -> ChainFacts:
        """The chain of segments of this lane."""
        return self.chains[self.at]

    @property
    def chain_name(self) -> str:
        """Name of the chain of segments of this lane, among those of all runs."""
        return f"{self.run}/{self.at}"

    def breaker(self, role: str) -> Breaker | None:
        """Return the breaker of the account of a role's agent; None if agents of the account may start."""
        return self.breakers.get(role, self.breakers.get(""))

    @property
    def failed(self) -> FailedStep | None:
        """The last failed step that has not succeeded since."""
        return self.chain.failed

    @property
    def lane(self) -> str:
        """Name of its agents' workspace. A lost worker may still use the one before."""
        name = f"phase-{self.at}" if self.at else "main"
        return f"{name}-{self.chain.moves}" if self.chain.moves else name

    @property
    def is_waiting(self) -> bool:
        """Whether every chain of segments waits."""
        return self.chains[""].wait is not None

    def chain_of(self, event: Event) -> ChainFacts:
        """Return the chain of segments that an event belongs to."""
        del event
        return self.chains[""]

    @property
    def done(self) -> frozenset[str]:
        """Phases that are done by now."""
        return self.done_before

    @property
    def current(self) -> PhaseFacts | None:
        """The phase that this run works on now; None if none is left."""
        return None

    @property
    def is_landing(self) -> bool:
        """Whether a landing has started and is not recorded as finished."""
        return False

    @property
    def may_stop(self) -> bool:
        """Whether the run may end before its next move: a started landing is finished first."""
        return not self.is_landing

    def answers(self, kind: type[_Key]) -> dict[_Key, str | None]:
        """Return the questions of one kind that this run has asked, with their answers."""
        asked = ((key_in(text), answer) for text, answer in self.approvals.items())
        return {key: answer for key, answer in asked if isinstance(key, kind)}

    def find(self, name: str) -> PhaseFacts | None:
        """Return a phase by its address."""
        return self.phases.get(name)

    def part(self, name: str) -> PhaseFacts:
        """Return a phase that is known to exist."""
        found = self.find(name)
        if found is None:
            raise LookupError(name)
        return found

    def attempts_in(self, lane: str | None) -> list[AttemptFacts]:
        """List the attempts of a lane; without one, those of the whole run."""
        phases = [phase for phase in self.phases.values() if not lane or phase.id == lane]
        return [attempt for phase in phases for attempt in phase.attempts]

    def is_work(self, event: Event) -> bool:
        """Whether the time up to an event counts as the run's own work."""
        del event
        return True
