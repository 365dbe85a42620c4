"""What is known about a run, folded from its events. Nothing here decides; nothing is stored twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from msgspec import Struct, field

from asbuilt.events.questions import DiffersKey, QuestionKey, key_in
from asbuilt.lifecycle.approval import Drafts
from asbuilt.lifecycle.run.causes import asks
from asbuilt.lifecycle.run.money import UNCAPPED, total
from asbuilt.lifecycle.run.pull_request import REPAIRS, PullFacts
from asbuilt.lifecycle.run.task import TaskFacts
from asbuilt.lifecycle.run.worktime import WorkTime

if TYPE_CHECKING:
    from asbuilt.events.event import Cause, Failure, Outcome
    from asbuilt.events.landings import LandingIntended
    from asbuilt.events.options import Landing, RunKind, RunMode
    from asbuilt.lifecycle.run.last_failure import FailedStep
    from asbuilt.lifecycle.run.money import Caps, Spent
    from asbuilt.lifecycle.run.windows import Window
    from asbuilt.proof.projects.model import Resolved

_Key = TypeVar("_Key", bound=QuestionKey)
PASS: Final = "PASS"  # noqa: S105 - a verdict
GOES_ON: Final = ("limited", "abandoned")
"""Endings that are no fault of the agent: the same attempt goes on with another start."""
WHOLE: Final = "all_phases"
"""Where the verifiers of all phases together have their address; no phase of a plan can be called so."""


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


class Difference(NamedTuple):
    """A proven phase whose text the plan has changed since: seen when, of which commit, and what it wants."""

    point: str
    commit: str
    intent: str | None

    @property
    def key(self) -> DiffersKey:
        """What a person says to it holds for this commit and this change, in whatever run."""
        return DiffersKey(commit=self.commit, intent=self.intent or "gone")


class Asked(NamedTuple):
    """A number that is not what the plan says of it: the item, what it is, and the words for a person."""

    item: int
    actual: int
    is_flagged: bool
    """An agent has pointed at it; else it is first given back to be mended."""
    words: str


class SignOff(NamedTuple):
    """Something about a proven phase that a person has to look at before it lands."""

    item: str
    """The change and the intent: what a person says to it holds for these, in whatever run."""
    phase: str
    question: str


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


class Handed(NamedTuple):
    """What was handed in for a stage of authoring and accepted."""

    stage: str
    round: int
    text: str
    """Digest."""
    attempt: str
    """The address of who handed it in, below the run: `draft.1`."""


class DraftFacts(Struct):
    """An authoring: its stages, its questions, and the revisions that came of them."""

    slug: str = ""
    in_conversation: bool = False
    """A conversation of the person writes it; only its critics are agents that a worker starts."""
    due: str = ""
    """The stage that comes next, or is under way."""
    judged: dict[str, int] = field(default_factory=dict)
    """Of each stage the last attempt whose output was judged."""
    accepted: list[Handed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Digests of what was wrong with the outputs of the stage that is due."""
    proposals: str | None = None
    """Digest of what several planners have proposed, each on their own."""
    gave_up: str = ""
    finished: str | None = None
    """Why the stages have come to an end, as long as their plan is not written down."""
    batches: list[tuple[str, ...]] = field(default_factory=list)
    """Questions to a person, by their keys, as they were asked together."""
    asked: dict[str, str] = field(default_factory=dict)
    """Each question in words, by its key."""
    notes: dict[str, str] = field(default_factory=dict)
    """What people have written with their answers, by the key of the question."""
    texts: Drafts = field(default_factory=Drafts)
    """The revisions that came of it, and what people said to them."""
    feedback: list[str] = field(default_factory=list)
    """Why people have sent a revision back."""
    reopened_at: int | None = None
    """So many outputs were accepted when the last revision was sent back; None: it was not."""


def is_planning(kind: object) -> bool:
    """Tell whether a kind of run writes plans and no code: its phases are stages, and none is proven."""
    return kind in ("author", "task")


class RunFacts(Struct):
    """Everything that the next move of a run depends on."""

    run: str
    kind: RunKind = "run"
    mode: RunMode = "phase"
    auto: bool = False
    hold: bool = True
    way: Landing = "cherry-pick"
    protected: bool = False
    """Nobody may push to the target directly."""
    wanted: str | None = None
    ring_required: bool = True
    stop: str | None = None
    pause: str | None = None
    """Why a person wants it to wait; None when nobody does."""
    pause_at: str = ""
    troubles: int = 0
    """How often in a row it was kept from going on: the store, the disk, or a segment that broke off."""
    trouble: str = ""
    trouble_next: str = ""
    retry_at: str | None = None
    started: bool = False
    base: str | None = None
    phases: dict[str, PhaseFacts] = field(default_factory=dict)
    done_before: frozenset[str] = frozenset()
    """Phases that were done when the run began, by journal or marks; of an authoring: accepted stages."""
    draft: DraftFacts = field(default_factory=DraftFacts)
    task: TaskFacts = field(default_factory=TaskFacts)
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
    compared: str | None = None
    """The last point at which the plan's file was compared with what waits to be landed."""
    differs: dict[str, Difference] = field(default_factory=dict)
    """Phases that wait to be landed and whose text the plan has changed since."""
    sign_offs: dict[str, SignOff] = field(default_factory=dict)
    """What a person has to sign off before what waits can land, by its item."""
    branch: str = ""
    """Where it began, and where it lands."""
    revision: int = 0
    """How often its settings were renewed."""
    checked: bool = True
    """Every open phase of its plan has checks of its own."""
    tests: Resolved | None = None
    tests_agreed: bool = False
    """A person has said yes to this very proposal before, in whatever run."""
    carried: str | None = None
    """The commit that keeps the files of an earlier run, with which its workspace begins."""
    ring: str = ""
    """What holds agents and checks on this machine, as it was when the run began."""
    ring_agreed: bool = False
    """A person has said before that work may go on here without a ring."""
    rechecked: dict[str, Outcome] = field(default_factory=dict)
    """For a run of the kind verify: what the checks of each phase have shown."""
    failures: tuple[str, ...] = ()
    workspace: bool = False
    moves: int = 0
    """How often another worker has gone on with it: each has its own workspace, and nobody else's."""
    failed: FailedStep | None = None
    """The step that failed last and has not succeeded since."""
    setup: Outcome | None = None
    setup_reason: str = ""
    baseline: Outcome | None = None
    baseline_shown: str = ""
    baseline_asks: bool = False
    approvals: dict[str, str | None] = field(default_factory=dict)
    """Questions of this run by the text of their key: the answer, or None while nobody has given one."""
    together: Outcome | None = None
    apart: tuple[str, ...] = ()
    """What fails when all phases are there."""
    whole: AttemptFacts = field(default_factory=lambda: AttemptFacts(0, "verify"))
    """The verdict on all phases together, and its verifiers."""
    reported: bool = False
    landing: str | None = None
    """intended, landed, or refused."""
    landing_reason: str = ""
    landing_next: str = ""
    intent: LandingIntended | None = None
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
    pull: PullFacts = field(default_factory=PullFacts)
    repairs: dict[str, PhaseFacts] = field(
        default_factory=lambda: {name: PhaseFacts(name) for name in REPAIRS}
    )
    """What agents mend of its pull request, each like a phase of its own."""
    ended: str | None = None
    reason: str = ""
    next_step: str = ""
    code: int | None = None
    """What the command that looks on is to exit with, when a gate ended the run."""
    parked_at: str = ""
    """When it began to wait for what it waits for."""
    costs: dict[str, Spent] = field(default_factory=dict)
    """What each attempt and verifier has used so far; a start adds to those before it."""
    untold: list[str] = field(default_factory=list)
    """Notes of people for the next attempt, which none has been told yet."""
    caps: Caps = UNCAPPED
    window: Window | None = None
    """The hours in which it may begin something; None: at any."""
    time: WorkTime = field(default_factory=WorkTime)

    @property
    def spent(self) -> Spent:
        """What the run has used so far."""
        return total(self.costs.values())

    @property
    def pending(self) -> tuple[Work, ...]:
        """What is proven and waits to be landed, in order."""
        landed = {one.commit for one in self.landed}
        return tuple(work for work in (*self.unlanded, *self.works) if work.commit not in landed)

    @property
    def lane(self) -> str:
        """Name the workspace of its agents; a worker that was lost may still be in the one before."""
        return f"main-{self.moves}" if self.moves else "main"

    @property
    def base_now(self) -> str:
        """What the next phase builds on: the last landing of a direct run, the last proof, else the base."""
        if self.way == "direct" and self.tip is not None:
            return self.tip
        return self.works[-1].commit if self.works else self.base or ""

    def answers(self, kind: type[_Key]) -> dict[_Key, str | None]:
        """Return the questions of one kind that this run has asked, with their answers."""
        asked = ((key_in(text), answer) for text, answer in self.approvals.items())
        return {key: answer for key, answer in asked if isinstance(key, kind)}

    def part(self, name: str) -> PhaseFacts:
        """Return a phase, or what is mended of the pull request, by its address."""
        return self.phases[name] if name in self.phases else self.repairs[name]

    @property
    def done(self) -> frozenset[str]:
        """Phases that are done by now."""
        return self.done_before | {work.phase for work in self.works}
