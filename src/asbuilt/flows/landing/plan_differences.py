"""Check, before a landing, whether the plan still wants the work, and what needs a sign-off.

Rules: a mark is no difference, and a difference with a yes is not asked about again. A sign-off covers one
change under one intent; other content of the same file is another change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.errors import NotFound, PlanUnreadable
from asbuilt.events.phases import PhaseBegun, PhaseProven, SignOffWanted
from asbuilt.events.plans import PlanCompared, PlanDiffers
from asbuilt.events.questions import SignOffKey, in_run
from asbuilt.flows.checks.inspect import kept_remarks
from asbuilt.flows.checks.pictures import seen_by_people
from asbuilt.flows.run.record import Record, append_event
from asbuilt.journal import approvals
from asbuilt.plan.reader import read
from asbuilt.proof.remarks import Remark, asked_about, key_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.flows.run.plan_file import Document
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Work

_QUESTION: Final = 600


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


def sign_offs(record: Record, works: Iterable[Work], intents: Mapping[Work, str]) -> list[SignOffWanted]:
    """List what needs a sign-off in some proven phases."""
    found = []
    for work in works:
        kept = record.event(PhaseProven, f"{work.phase}/proven", run=work.run).remarks
        for group in asked_about(kept_remarks(record, kept)):
            question = f"sign off {words_of(group)}"[:_QUESTION]
            item = _key(intents[work], group).item
            found.append(SignOffWanted(item=item, phase=work.phase, question=question))
    return found


def unsigned(record: Record, wanted: Sequence[SignOffWanted]) -> list[SignOffWanted]:
    """Return those without a yes; a yes in any run counts."""
    answers = record.answered({mark.item: in_run(mark.item, "") for mark in wanted})
    return [mark for mark in wanted if mark.item not in answers or answers[mark.item].answer != "yes"]


def signed_off(record: Record, intent: str, remarks: Iterable[Remark]) -> dict[str, str]:
    """Return the answer to each change, by the remark's key."""
    questions = {remark.key: _key(intent, group).under for group in asked_about(remarks) for remark in group}
    return {
        key: f"{approval.answer} by {approval.answered_by} on {(approval.answered_at or '')[:10]}"
        + (f": {approval.note}" if approval.note else "")
        for key, approval in record.answered(questions).items()
    }


def _key(intent: str, group: Sequence[Remark]) -> SignOffKey:
    return SignOffKey(intent=intent, change=key_of(group))
