"""Fold the events of a run of a plan's phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from asbuilt.events.attempts import TogetherDone, TogetherJudged, TogetherJudging, TogetherUnjudged
from asbuilt.events.options import RunOptions, value_or
from asbuilt.events.phases import PhaseForked, PhaseJoined, PhaseMerged, PhaseProven
from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.delivery.facts import Work
from asbuilt.lifecycle.delivery.fold import hear_delivery, take_delivery
from asbuilt.lifecycle.plan_run.facts import Lane, PlanFacts
from asbuilt.lifecycle.run.facts import MERGE, WHOLE, ChainFacts
from asbuilt.lifecycle.run.fold import hear_verifier, hear_verifying

if TYPE_CHECKING:
    from asbuilt.events.event import Entry


def begin_plan_run(run: str, options: RunOptions) -> PlanFacts:
    """Return the facts of a run before its first event."""
    facts = PlanFacts(run, mode=options.mode, lane_limit=value_or(options.lanes, 1))
    take_delivery(facts, options)
    return facts


def hear_plan_run(facts: PlanFacts, entry: Entry) -> None:
    """Fold one event."""
    event = entry.event
    hear_delivery(facts, event)
    match event:
        case RunStarted():
            for phase, commit, failures in (*([event.carried] if event.carried else []), *event.beside):
                facts.carried[phase], facts.phases[phase].carried = commit, failures
        case PhaseProven() if (proven := facts.find(event.phase)) is not None:
            proven.proven, proven.proven_at = event.commit, entry.at
            proven.waived, proven.corrected = event.waived, event.corrected
            facts.works.append(Work(proven.id, facts.run, event.commit))
            facts.ready = [one for one in facts.ready if one != event.phase]
        case PhaseForked():
            _hear_fork(facts, event)
        case PhaseJoined():
            facts.lanes[event.phase].joined, facts.code = event, event.code
            others = [one for one in facts.ready if one != event.phase]
            facts.ready = [*others, *([event.phase] if event.state == "ready" else [])]
        case PhaseMerged():
            _hear_merge(facts, event, entry.at)
        case TogetherDone():
            facts.together, facts.apart = event.outcome, event.failures
        case TogetherJudging():
            hear_verifying(facts, facts.whole, WHOLE)
        case TogetherUnjudged():
            hear_verifier(facts.whole, event)
        case TogetherJudged():
            facts.whole.verdict, facts.whole.items = event.outcome, event.items
            facts.whole.judged, facts.whole.verifier_starts = event.failures, 0
        case _:
            pass


def _hear_fork(facts: PlanFacts, event: PhaseForked) -> None:
    """Open a lane; one that was opened before gets another workspace, on its new base."""
    before = facts.chains.get(event.phase)
    facts.chains[event.phase] = ChainFacts(moves=0 if before is None else before.moves + 1)
    facts.lanes[event.phase] = Lane(event.base)
    facts.ready = [one for one in facts.ready if one != event.phase]


def _hear_merge(facts: PlanFacts, event: PhaseMerged, at: str) -> None:
    """Add a merge as an attempt: it has the verdict of the merged one, and its checks run again."""
    phase = facts.phases[event.phase]
    merged = next(one for one in phase.attempts if one.number == event.of)
    attempt = replace(
        merged, number=event.number, role=MERGE, commit=event.commit, tree=event.tree,
        conflicts=event.conflicts, failures=event.failures, checks="FAIL" if event.conflicts else None,
        changed=True, unusable=0, refusals=0, evidence=None, remarks=None, says="", notes=(), began_at=at,
        ended_at=at,
    )  # fmt: skip
    phase.attempts = [*(one for one in phase.attempts if one.number != event.number), attempt]
