"""Facts of a run that lands or reverts proven work, folded from its events."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import field

from asbuilt.events.approvals import ApprovalAnswered
from asbuilt.events.event import Entry
from asbuilt.events.landings import LandingDeclined, LandingDone
from asbuilt.events.options import Landing, RunOptions
from asbuilt.events.phases import SignOffWanted
from asbuilt.events.plans import PlanCompared, PlanDiffers, PlanMarked
from asbuilt.events.pulls import IssuesTold, PullMerging, PullRefused
from asbuilt.events.questions import PullKey, key_in
from asbuilt.events.runs import ReportWritten, RunHastened, RunStarted
from asbuilt.lifecycle.pull_request.facts import (
    REPAIRS,
    PullFacts,
    fold_pull,
    look_again,
    pull_in,
    start_over,
)
from asbuilt.lifecycle.run.facts import PhaseFacts
from asbuilt.lifecycle.run.landing_state import LandingState, fold_landing
from asbuilt.lifecycle.run.proving import ProvingFacts


class Work(NamedTuple):
    """A proven phase: the run that proved it and its commit."""

    phase: str
    run: str
    commit: str


class Landed(NamedTuple):
    """A proven phase on the target, with its commit there."""

    phase: str
    run: str
    commit: str
    landed_as: str


class DeliveryFacts(ProvingFacts):
    """A run that moves proven commits: a plan run, a landing or an undo."""

    hold: bool = True
    way: Landing = "cherry-pick"
    """How it lands: cherry-pick (once, at the end), pr, or direct (each phase as soon as it is proven)."""
    unlanded: tuple[Work, ...] = ()
    """Work that earlier runs proved and did not land, in order, at the start of the run."""
    branch_at: str | None = None
    works: list[Work] = field(default_factory=list)
    """Work that this run proved, in order: each commit builds on the one before."""
    compared: str | None = None
    """The last point at which the plan's file was compared with the pending work."""
    differs: dict[str, PlanDiffers] = field(default_factory=dict)
    """Pending phases whose text has changed in the plan."""
    sign_offs: dict[str, SignOffWanted] = field(default_factory=dict)
    reported: bool = False
    landing: LandingState = field(default_factory=LandingState)
    declined: str = ""
    """Who declined the landing of its proven work, and why; empty if it was not declined."""
    landed: list[Landed] = field(default_factory=list)
    marks_landed: bool = False
    marked: bool = True
    """False while work has landed that the plan does not show yet."""
    issues: tuple[int, ...] = ()
    """Issues that the plan names, until they were closed."""
    pull: PullFacts = field(default_factory=PullFacts)
    repairs: dict[str, PhaseFacts] = field(
        default_factory=lambda: {name: PhaseFacts(name) for name in REPAIRS}
    )
    """Repairs of the pull request by agents, each with the facts of a phase."""

    @property
    def pending(self) -> tuple[Work, ...]:
        """Proven work that has not landed, in order."""
        landed = {landed_phase.commit for landed_phase in self.landed}
        return tuple(work for work in (*self.unlanded, *self.works) if work.commit not in landed)

    @property
    def base_now(self) -> str:
        """The commit to build on: a direct run's last landing, the last proof, or the base."""
        if self.way == "direct" and self.landing.tip is not None:
            return self.landing.tip
        return self.works[-1].commit if self.works else self.base or ""

    @property
    def done(self) -> frozenset[str]:
        """Phases that are done by now."""
        return self.done_before | {work.phase for work in self.works}

    @property
    def closes_issues(self) -> bool:
        """Whether the plan is complete, and the issues that it names have to be closed."""
        return bool(self.issues) and self.done >= self.phases.keys()

    @property
    def is_landing(self) -> bool:
        """Whether a landing has started and is not recorded as finished."""
        return self.landing.state == "intended"

    @property
    def may_stop(self) -> bool:
        """Whether the run may end: a cut-off landing would leave target and marks different."""
        return not self.is_landing and self.marked

    def find(self, name: str) -> PhaseFacts | None:
        """Return a phase, or a repair of the pull request, by its address."""
        return self.phases.get(name) or self.repairs.get(name)

    def take(self, options: RunOptions) -> None:
        """Copy the options that decisions depend on."""
        super().take(options)
        self.hold, self.way, self.pull = options.holds, options.landing, pull_in(options)
        self.issues = () if options.kind == "undo" else options.issues

    def fold(self, entry: Entry) -> None:
        """Fold an event about proven work."""
        super().fold(entry)
        event = entry.event
        fold_pull(self.pull, event)
        fold_landing(self.landing, event)
        match event:
            case RunStarted():
                self.branch_at = event.branch_at
                self.unlanded = tuple(Work(*work) for work in event.unlanded)
            case ApprovalAnswered(answer="yes") if isinstance(key_in(event.key), PullKey):
                look_again(self.pull)
            case PlanDiffers():
                self.differs[event.phase] = event
            case PlanCompared():
                self.compared = event.point
                self.differs = {
                    phase: found for phase, found in self.differs.items() if found.point == event.point
                }
            case SignOffWanted():
                self.sign_offs[event.item] = event
            case ReportWritten():
                self.reported = True
            case PlanMarked():
                self.marked = True
            case RunHastened():
                self.pull.seen = None
            case LandingDone():
                self.marked, self.marks_landed = False, event.marks
                self.landed += [Landed(*commit) for commit in event.commits]
                start_over(self.pull)
            case LandingDeclined():
                self.declined = event.words
            case IssuesTold():
                self.issues = ()
            case PullMerging():
                # The forge may have merged it: such a pull request is finished like a landing.
                self.landing.state = "intended"
            case PullRefused():
                self.landing.state = None
