"""Facts of a run of a plan's phases."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from asbuilt.events.attempts import TogetherDone, TogetherJudged, TogetherJudging, TogetherUnjudged
from asbuilt.events.event import Entry, Event, Outcome, phase_of
from asbuilt.events.options import RunKind, RunMode, RunOptions, value_or
from asbuilt.events.phases import PhaseForked, PhaseJoined, PhaseMerged, PhaseProven
from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Work
from asbuilt.lifecycle.run.facts import MERGE, WHOLE, AttemptFacts, ChainFacts, PhaseFacts
from asbuilt.lifecycle.run.fold import fold_verifier, fold_verifying
from asbuilt.lifecycle.run.last_failure import FailedStep
from asbuilt.plan.needs import may_start


class Lane(Struct):
    """Work on a phase beside other phases: its base, and how it was closed."""

    base: str
    joined: PhaseJoined | None = None
    """None while it is open."""


class PlanFacts(DeliveryFacts):
    """A run of one phase, or of all open phases."""

    kind: ClassVar[RunKind] = "run"
    builds: ClassVar[bool] = True
    mode: RunMode = "phase"
    carried: dict[str, str] = field(default_factory=dict)
    """By phase, the commit with the files of an earlier run, from which its workspace starts."""
    together: Outcome | None = None
    apart: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """Phases whose own checks fail on all phases together."""
    whole: AttemptFacts = field(default_factory=lambda: AttemptFacts(0, "verify"))
    """The verdict on all phases together, and its verifiers."""
    lane_limit: int = 1
    lanes: dict[str, Lane] = field(default_factory=dict)
    """The phases that were forked, in the order of their first fork."""
    ready: list[str] = field(default_factory=list)
    """Phases whose lanes are closed and that are not merged yet, in the order in which they became ready."""

    @property
    def open_lanes(self) -> list[str]:
        """Phases that are worked on in a lane now."""
        return [phase for phase, lane in self.lanes.items() if lane.joined is None]

    @property
    def given_up(self) -> PhaseJoined | None:
        """How the first phase was given up; None if none was."""
        joined = (lane.joined for lane in self.lanes.values())
        return next((outcome for outcome in joined if outcome is not None and outcome.state != "ready"), None)

    @property
    def forkable(self) -> list[PhaseFacts]:
        """Phases that could be worked on side by side now, by the plan alone.

        An attended run asks between two phases, a direct one lands each before the next, and without a
        sandbox one agent's changes cannot be separated from another's: those work on one phase at a time.
        """
        is_apart = self.auto and self.mode == "finish" and self.wanted is None and self.way != "direct"
        if not is_apart or self.lane_limit < 2 or self.sandbox_level == "none":
            return []
        return [phase for phase in self._startable if not phase.alone]

    @property
    def _proven(self) -> frozenset[str]:
        return self.done_before | {phase.id for phase in self.phases.values() if phase.proven}

    @property
    def is_complete(self) -> bool:
        """Whether every phase of the plan is done or proven."""
        return self._proven >= self.phases.keys()

    @property
    def _startable(self) -> list[PhaseFacts]:
        proven = self._proven
        return [
            phase
            for phase in self.phases.values()
            if phase.id not in proven and phase.id not in self.lanes and may_start(phase.needs, proven)
        ]

    def chain_of(self, event: Event) -> ChainFacts:
        """Return the chain of segments that an event belongs to."""
        lane = self.lanes.get(phase_of(event) or "")
        return self.chains[phase_of(event) or "" if lane is not None and lane.joined is None else ""]

    def attempts_in(self, lane: str | None) -> list[AttemptFacts]:
        """List the attempts of a lane; without one, those of the whole run and its common verdict."""
        return [*super().attempts_in(lane), *([] if lane else [self.whole])]

    @property
    def is_waiting(self) -> bool:
        """Whether the run and every open lane wait."""
        return all(self.chains[name].wait is not None for name in ("", *self.open_lanes))

    @property
    def failed(self) -> FailedStep | None:
        """The last failed step that has not succeeded since; of a phase that was given up, if one was."""
        return self.chains[self.given_up.phase if self.given_up and not self.at else self.at].failed

    @property
    def base_now(self) -> str:
        """The commit to build on; in a lane, its base."""
        return self.lanes[self.at].base if self.at else super().base_now

    @property
    def current(self) -> PhaseFacts | None:
        """The phase that this lane, or the run itself, works on now; None if none is left."""
        if self.at:
            return self.phases[self.at]
        proven = self._proven
        if self.wanted is not None:
            wanted = self.phases.get(self.wanted)
            return wanted if wanted is not None and wanted.id not in proven else None
        if self.mode == "phase" and any(phase.proven for phase in self.phases.values()):
            return None
        begun = (
            phase_facts
            for phase_facts in self.phases.values()
            if phase_facts.begun and not phase_facts.proven and phase_facts.id not in self.lanes
        )
        return next(begun, None) or next(iter(self._startable), None)

    @property
    def last_kept(self) -> str | None:
        """The commit with the files of the last kept attempt at the current phase; None if there is none."""
        phase = self.current
        return (
            next((attempt.commit for attempt in reversed(phase.attempts) if attempt.commit), None)
            if phase
            else None
        )

    def take(self, options: RunOptions) -> None:
        """Copy the options that decisions depend on."""
        super().take(options)
        self.mode, self.lane_limit = options.mode, value_or(options.lanes, 1)

    def fold(self, entry: Entry) -> None:
        """Fold an event about phases and lanes."""
        super().fold(entry)
        event = entry.event
        match event:
            case RunStarted():
                for phase, commit, failures in (*([event.carried] if event.carried else []), *event.beside):
                    self.carried[phase], self.phases[phase].carried = commit, failures
            case PhaseProven() if (proven := self.find(event.phase)) is not None:
                proven.proven, proven.proven_at = event.commit, entry.at
                proven.waived, proven.corrected = event.waived, event.corrected
                proven.sign_offs = event.sign_offs
                self.works.append(Work(proven.id, self.run, event.commit))
                self.ready = [ready for ready in self.ready if ready != event.phase]
            case PhaseForked():
                _record_fork(self, event)
            case PhaseJoined():
                self.lanes[event.phase].joined, self.code = event, event.code
                others = [ready for ready in self.ready if ready != event.phase]
                self.ready = [*others, *([event.phase] if event.state == "ready" else [])]
            case PhaseMerged():
                _record_merge(self, event, entry.at)
            case TogetherDone():
                self.together, self.apart, self.broken = event.outcome, event.failures, event.broken
            case TogetherJudging():
                fold_verifying(self, self.whole, WHOLE)
            case TogetherUnjudged():
                fold_verifier(self.whole, event)
            case TogetherJudged():
                self.whole.verdict, self.whole.items = event.outcome, event.items
                self.whole.judged, self.whole.verifier_starts = event.failures, 0


def _record_fork(facts: PlanFacts, event: PhaseForked) -> None:
    """Open a lane; one that was opened before gets another workspace, on its new base."""
    before = facts.chains.get(event.phase)
    facts.chains[event.phase] = ChainFacts(moves=0 if before is None else before.moves + 1)
    facts.lanes[event.phase] = Lane(event.base)
    facts.ready = [ready for ready in facts.ready if ready != event.phase]


def _record_merge(facts: PlanFacts, event: PhaseMerged, at: str) -> None:
    """Add a merge as an attempt: it has the merged one's verdict and remarks; its checks run again."""
    phase = facts.phases[event.phase]
    merged = next(earlier for earlier in phase.attempts if earlier.number == event.of)
    attempt = replace(
        merged, number=event.number, role=MERGE, commit=event.commit, tree=event.tree,
        conflicts=event.conflicts, failures=event.failures, checks="FAIL" if event.conflicts else None,
        changed=True, unusable=0, refusals=0, evidence=None, says="", notes=(), began_at=at, ended_at=at,
    )  # fmt: skip
    phase.attempts = [*(earlier for earlier in phase.attempts if earlier.number != event.number), attempt]
