"""What a run knows that lands or takes back proven work, folded from its events. Nothing here decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import field

from asbuilt.events.questions import DiffersKey
from asbuilt.lifecycle.pull_request.facts import REPAIRS, PullFacts
from asbuilt.lifecycle.run.facts import PhaseFacts
from asbuilt.lifecycle.run.landing import LandingState
from asbuilt.lifecycle.run.proving import ProvingFacts

if TYPE_CHECKING:
    from asbuilt.events.options import Landing


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


class SignOff(NamedTuple):
    """Something about a proven phase that a person has to look at before it lands."""

    item: str
    """The change and the intent: what a person says to it holds for these, in whatever run."""
    phase: str
    question: str


class DeliveryFacts(ProvingFacts):
    """A run that moves proven commits: a plan run, a landing, an undo."""

    hold: bool = True
    way: Landing = "cherry-pick"
    """How it lands: cherry-pick (once, at the end), pr, or direct (each phase as soon as it is proven)."""
    protected: bool = False
    """The target refuses direct pushes."""
    unlanded: tuple[Work, ...] = ()
    """What earlier runs have proven and not landed, in order, when the run started."""
    branch_at: str | None = None
    """Where the plan's branch was when the run started."""
    works: list[Work] = field(default_factory=list)
    """What this run has proven, in order: each commit builds on the one before."""
    compared: str | None = None
    """The last point at which the plan's file was compared with what waits to be landed."""
    differs: dict[str, Difference] = field(default_factory=dict)
    """Phases that wait to be landed and whose text the plan has changed since."""
    sign_offs: dict[str, SignOff] = field(default_factory=dict)
    """What the user has to sign off before the landing, by its item."""
    reported: bool = False
    landing: LandingState = field(default_factory=LandingState)
    landed: list[Landed] = field(default_factory=list)
    """What this run has landed."""
    marks_landed: bool = False
    """The plan's marks were part of the last landing."""
    marked: bool = True
    """False while something has landed and the plan does not say so yet."""
    pull: PullFacts = field(default_factory=PullFacts)
    repairs: dict[str, PhaseFacts] = field(
        default_factory=lambda: {name: PhaseFacts(name) for name in REPAIRS}
    )
    """What agents repair of its pull request, each like a phase of its own."""

    @property
    def pending(self) -> tuple[Work, ...]:
        """What is proven and waits to be landed, in order."""
        landed = {one.commit for one in self.landed}
        return tuple(work for work in (*self.unlanded, *self.works) if work.commit not in landed)

    @property
    def base_now(self) -> str:
        """What the next phase builds on: the last landing of a direct run, the last proof, else the base."""
        if self.way == "direct" and self.landing.tip is not None:
            return self.landing.tip
        return self.works[-1].commit if self.works else self.base or ""

    @property
    def done(self) -> frozenset[str]:
        """Phases that are done by now."""
        return self.done_before | {work.phase for work in self.works}

    @property
    def is_landing(self) -> bool:
        """Whether a landing has started and is not recorded as finished."""
        return self.landing.state == "intended"

    @property
    def may_stop(self) -> bool:
        """Whether the run may end: a landing cut off would leave the target and the plan's marks apart."""
        return not self.is_landing and self.marked

    def find(self, name: str) -> PhaseFacts | None:
        """Return a phase, or a repair of the pull request, by its address."""
        return self.phases.get(name) or self.repairs.get(name)
