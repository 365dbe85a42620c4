"""What is known about any run, folded from its events. Nothing here decides.

Each kind of run has a class of its own below `RunFacts`, in its own folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeVar

from msgspec import Struct, field

from asbuilt.events.questions import QuestionKey, key_in
from asbuilt.lifecycle.run.causes import asks
from asbuilt.lifecycle.run.money import UNCAPPED, total
from asbuilt.lifecycle.run.worktime import WorkTime

if TYPE_CHECKING:
    from asbuilt.events.event import Cause, Event, Failure, Outcome
    from asbuilt.events.options import RunKind
    from asbuilt.lifecycle.run.last_failure import FailedStep
    from asbuilt.lifecycle.run.money import Caps, Spent
    from asbuilt.lifecycle.run.windows import Window

_Key = TypeVar("_Key", bound=QuestionKey)
PASS: Final = "PASS"  # noqa: S105 - a verdict
GOES_ON: Final = ("limited", "abandoned")
"""Endings that are not the agent's fault: the same attempt is started again."""
WHOLE: Final = "all_phases"
"""The address of the verifiers of all phases together; no phase of a plan can have this name."""


class Asked(NamedTuple):
    """A number that is not what the plan says of it: the item, what it is, and the words for a person."""

    item: int
    actual: int
    is_flagged: bool
    """An agent has pointed at it; else it is first given back to be mended."""
    words: str


class AttemptFacts(Struct):
    """One frozen brief and what became of it."""

    number: int
    role: str
    ending: str | None = None
    reason: str = ""
    cause: Cause | None = None
    """Why its agent stopped before its work was done, where that is known."""
    overloads: int = 0
    """How often in a row it was turned away because its model's servers had too much to do."""
    resets_at: str | None = None
    starts: int = 0
    ended_start: int = 0
    """Which start of its host ended so; a later start goes on from there."""
    is_lost: bool = False
    """Its files are on a machine that is lost, and were not kept: the same attempt is begun again."""
    refusals: int = 0
    """How often its tree could not be kept as it is, and why."""
    refusal: str = ""
    commit: str | None = None
    tree: str | None = None
    changed: bool = True
    checks: Outcome | None = None
    unusable: int = 0
    """How often its checks showed nothing: they were killed or timed out, or ran another tree's code."""
    failures: tuple[str, ...] = ()
    """Failures of its checks and of its verdict, in words: what the next fix is given."""
    judged: tuple[Failure, ...] = ()
    """Failures of its verdict."""
    verifier: str | None = None
    """How the verifier of this attempt's tree ended without a verdict; None while it has not."""
    verifier_reason: str = ""
    verifier_cause: Cause | None = None
    verifier_overloads: int = 0
    verifier_resets_at: str | None = None
    verifier_ended_start: int = 0
    lost_verifiers: int = 0
    """Verifiers that ended without having judged: a stall, a crash, a time-out."""
    verdict: Outcome | None = None
    began_at: str = ""
    ended_at: str = ""
    says: str = ""
    """The agent's last words: a claim."""
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What people wanted it to know when it began."""
    evidence: str | None = None
    """Digest of what the checks have shown."""
    outside: str | None = None
    """Digest of what it changed outside its workspace."""
    remarks: str | None = None
    """Digest of what was noticed about its changes."""
    items: str | None = None
    """Digest of the verdict on every item."""
    unproven: tuple[int, ...] = ()
    """Items that a person could accept as they are."""
    drift: str | None = None
    """Digest of what the agent said of numbers: a claim."""
    numbers: str | None = None
    """Digest of what was measured of the numbers that the phase states."""
    far: int = 0
    asks: tuple[Asked, ...] = ()
    """Numbers whose correction would turn the verdict into a PASS."""
    stops: tuple[str, ...] = ()
    """Numbers that were corrected before and do not hold again, in words."""
    output: str | None = None
    """Digest of what it handed in, for a stage of authoring."""

    @property
    def is_judgeable(self) -> bool:
        """Tell whether it has, or may still get, a tree to judge."""
        return self.ending in (None, "done", *GOES_ON)


class PhaseFacts(Struct):
    """A phase in this run."""

    id: str
    needs: tuple[str, ...] = ()
    title: str = ""
    carried: tuple[str, ...] = ()
    """What was wrong with it when an earlier run ended; this one goes on from the tree of that time."""
    begun: bool = False
    begun_at: str = ""
    intent: str | None = None
    attempts: list[AttemptFacts] = field(default_factory=list)
    proven: str | None = None
    """The commit that holds it, once it is proven."""
    proven_at: str = ""
    waived: str | None = None
    """Digest of the items that a person has accepted unmet, with the reason."""
    corrected: str | None = None
    """Digest of its numbers that are put right when it lands."""

    @property
    def fixes(self) -> int:
        """Count the cycles of fixing: one that stalled and was made anew is the same cycle."""
        return sum(attempt.role == "fix" and attempt.is_judgeable for attempt in self.attempts)

    @property
    def repeats(self) -> int:
        """Count the attempts that ended without a tree to judge: a stall, a crash, a time-out.

        One after which a person said that it shall go on is not counted.
        """
        return sum(not attempt.is_judgeable and not asks(attempt.cause) for attempt in self.attempts)


class RunFacts(Struct):
    """What the next move of every kind of run depends on."""

    kind: ClassVar[RunKind]
    plans: ClassVar[bool] = False
    """It writes a plan and no code: its phases are stages, and none is proven."""
    run: str
    auto: bool = False
    ring_required: bool = True
    branch: str = ""
    """Where it starts, and where it lands."""
    stop: str | None = None
    pause: str | None = None
    """Why the user paused it; None: not paused."""
    pause_at: str = ""
    troubles: int = 0
    """Transient errors in a row: of the database, the disk, or a segment that broke off."""
    trouble: str = ""
    trouble_next: str = ""
    retry_at: str | None = None
    started: bool = False
    base: str | None = None
    phases: dict[str, PhaseFacts] = field(default_factory=dict)
    done_before: frozenset[str] = frozenset()
    """Phases that were done when the run started, by journal or marks; for authoring: accepted stages."""
    ring: str = ""
    """The sandbox of this machine when the run started."""
    ring_agreed: bool = False
    """The user agreed before to work here without a sandbox."""
    moves: int = 0
    """How often another worker took over; each has its own workspace."""
    failed: FailedStep | None = None
    """The step that failed last and has not succeeded since."""
    approvals: dict[str, str | None] = field(default_factory=dict)
    """Questions of this run by their key: the answer, or None while there is none."""
    ended: str | None = None
    reason: str = ""
    next_step: str = ""
    code: int | None = None
    """The exit code of the command that follows the run, when a gate ended it."""
    parked_at: str = ""
    """When its current wait started."""
    costs: dict[str, Spent] = field(default_factory=dict)
    """What each attempt and verifier has used, over all its starts."""
    untold: list[str] = field(default_factory=list)
    """Notes of the user that no attempt has got yet."""
    caps: Caps = UNCAPPED
    window: Window | None = None
    """The hours in which it may start something; None: any."""
    time: WorkTime = field(default_factory=WorkTime)

    @property
    def spent(self) -> Spent:
        """What the run has used so far."""
        return total(self.costs.values())

    @property
    def lane(self) -> str:
        """The name of its agents' workspace; a lost worker may still be in the one before."""
        return f"main-{self.moves}" if self.moves else "main"

    @property
    def done(self) -> frozenset[str]:
        """Phases that are done by now."""
        return self.done_before

    @property
    def current(self) -> PhaseFacts | None:
        """The phase that this run works on now; None when there is none left for it."""
        return None

    @property
    def is_landing(self) -> bool:
        """Whether a landing has started and is not recorded as finished."""
        return False

    @property
    def may_stop(self) -> bool:
        """Whether the run may end before its next move: a landing that has started is finished first."""
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

    def is_work(self, event: Event) -> bool:
        """Whether the time up to an event counts as the run's own work."""
        del event
        return True
