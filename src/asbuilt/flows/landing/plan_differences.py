"""Check, before a landing, whether the plan still wants the work, and what needs a sign-off.

Rule: a mark is no difference, and a difference with a yes is not asked about again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.events.phases import PhaseBegun
from asbuilt.events.plans import PlanCompared, PlanDiffers
from asbuilt.flows.checks.pictures import seen_by_people
from asbuilt.flows.landing.sign_offs import sign_offs, unsigned
from asbuilt.flows.run.record import Record, append_event
from asbuilt.journal import approvals
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.run.plan_file import Document
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts


def compare(
    record: Record, repository: Repository, document: Document, facts: DeliveryFacts, point: str
) -> None:
    """Record which pending phases the plan has changed since, and which sign-offs are needed."""
    run, wanted = record.run, _intents(document)
    frozen = {
        work: record.event(PhaseBegun, f"{work.phase}/begun", run=work.run).intent or ""
        for work in facts.pending
    }
    by_remark = sign_offs(record, facts.pending, frozen)
    by_sight = seen_by_people(record, repository, facts.pending, frozen)
    waiting = unsigned(record, [*by_remark, *by_sight])
    with record.store.write() as session:
        for work, intent in frozen.items():
            now = wanted.get(work.phase)
            found = PlanDiffers(phase=work.phase, point=point, commit=work.commit, intent=now)
            answered = approvals.last_answered(session, run.org, run.repo, under=found.question.under)
            if now != intent and not (answered and answered.answer == "yes"):
                append_event(session, run, found, f"{work.phase}/differs/{point}")
        for mark in waiting:
            append_event(session, run, mark, f"wanted/{mark.item}")
        append_event(session, run, PlanCompared(point=point), f"compared/{point}")


def _intents(document: Document) -> dict[str, str]:
    try:
        plan = read(document.read())
    except (NotFound, PlanUnreadable):
        # Removing the plan withdraws its promises: a difference in every phase.
        return {}
    return {phase.id: phase.intent for phase in plan.phases}
