"""Sign-offs of proven changes.

Rule: a sign-off covers one change under one intent; other content of the same file is another change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import structs

from asbuilt.events.phases import PhaseProven, SignOffWanted
from asbuilt.events.questions import SignOffKey, in_run
from asbuilt.flows.checks.change_inspection import kept_remarks
from asbuilt.journal.approvals import Approval
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.delivery.facts import Work
from asbuilt.lifecycle.status.report import SignOff
from asbuilt.proof.remarks import Remark, asked_about, key_of, words_of

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record

_QUESTION: Final = 600
"""Characters of a question."""


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


def unsigned(record: Record, wanted: Sequence[SignOffWanted], works: Iterable[Work]) -> list[SignOffWanted]:
    """Return those without a yes; a yes in any run counts, and so does a no to the same work."""
    answers = record.answered({mark.item: in_run(mark.item, "") for mark in wanted})
    proven_by = {work.phase: work.run for work in works}
    return [
        structs.replace(mark, declined=is_declined(record.run, answers.get(mark.item), proven_by[mark.phase]))
        for mark in wanted
        if mark.item not in answers or answers[mark.item].answer != "yes"
    ]


def is_declined(run: Run, earlier: Approval | None, proven_by: str) -> bool:
    """Return whether a no to the work that a run has proven holds in another run.

    A landing that the user asks for decides again. Ids of runs sort by time: a question of a run before the
    one that proved the work was about other work.
    """
    is_asked_for = run.options.kind == "land" and not run.options.continues
    was_no = earlier is not None and earlier.answer == "no" and earlier.run >= proven_by
    return was_no and not is_asked_for


def signed_off(record: Record, intent: str, remarks: Iterable[Remark]) -> dict[str, SignOff]:
    """Return the answer to each change, by the remark's key."""
    questions = {remark.key: _key(intent, group).under for group in asked_about(remarks) for remark in group}
    return {
        key: SignOff(
            approval.answer or "",
            approval.answered_by or "",
            (approval.answered_at or "")[:10],
            approval.note or "",
        )
        for key, approval in record.answered(questions).items()
    }


def _key(intent: str, group: Sequence[Remark]) -> SignOffKey:
    return SignOffKey(intent=intent, change=key_of(group))
