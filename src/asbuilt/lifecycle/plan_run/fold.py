"""Fold the events of a run of a plan's phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.attempts import TogetherDone, TogetherJudged, TogetherUnjudged
from asbuilt.events.phases import PhaseProven
from asbuilt.events.runs import RunStarted
from asbuilt.lifecycle.delivery.facts import Work
from asbuilt.lifecycle.delivery.fold import hear_delivery, take_delivery
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run.fold import fold_run, hear_verifier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunOptions


def fold_plan_run(run: str, options: RunOptions, entries: Iterable[Entry]) -> PlanFacts:
    """Fold the events of one run, in order."""
    facts = PlanFacts(run, mode=options.mode)
    take_delivery(facts, options)
    return fold_run(facts, entries, _hear)


def _hear(facts: PlanFacts, entry: Entry) -> None:
    event = entry.event
    hear_delivery(facts, event)
    match event:
        case RunStarted(carried=(phase, commit, failures)):
            facts.carried, facts.phases[phase].carried = commit, failures
        case PhaseProven() if (proven := facts.find(event.phase)) is not None:
            proven.proven, proven.proven_at = event.commit, entry.at
            proven.waived, proven.corrected = event.waived, event.corrected
            facts.works.append(Work(proven.id, facts.run, event.commit))
        case TogetherDone():
            facts.together, facts.apart = event.outcome, event.failures
        case TogetherUnjudged():
            hear_verifier(facts.whole, event)
        case TogetherJudged():
            facts.whole.verdict, facts.whole.items = event.outcome, event.items
            facts.whole.judged = event.failures
        case _:
            pass
