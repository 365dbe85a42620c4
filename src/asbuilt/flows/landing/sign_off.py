"""Sign-offs of proven work before it lands, and the answers to them.

Rule: a sign-off covers one change under one intent; other content of the same file is another change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.phases import PhaseProven
from asbuilt.events.questions import SignOffKey, in_run
from asbuilt.flows.checks.inspect import kept_remarks
from asbuilt.lifecycle.delivery.facts import SignOff, Work
from asbuilt.proof.remarks import Remark, asked_about, key_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.flows.run.record import Record

_QUESTION: Final = 600


def sign_offs(record: Record, works: Iterable[Work], intents: Mapping[Work, str]) -> list[SignOff]:
    """List what needs a sign-off in some proven phases."""
    found = []
    for work in works:
        kept = record.told(PhaseProven, f"{work.phase}/proven", run=work.run).remarks
        for group in asked_about(kept_remarks(record, kept)):
            question = f"sign off {words_of(group)}"[:_QUESTION]
            found.append(SignOff(_key(intents[work], group).item, work.phase, question))
    return found


def unsigned(record: Record, wanted: Sequence[SignOff]) -> list[SignOff]:
    """Return those without a yes; a yes in any run counts."""
    said = record.answered({one.item: in_run(one.item, "") for one in wanted})
    return [one for one in wanted if one.item not in said or said[one.item].answer != "yes"]


def signed_off(record: Record, intent: str, remarks: Iterable[Remark]) -> dict[str, str]:
    """Return the answer to each change, by the remark's key."""
    questions = {one.key: _key(intent, group).under for group in asked_about(remarks) for one in group}
    return {
        key: f"{said.answer} by {said.answered_by} on {(said.answered_at or '')[:10]}"
        + (f": {said.note}" if said.note else "")
        for key, said in record.answered(questions).items()
    }


def _key(intent: str, group: Sequence[Remark]) -> SignOffKey:
    return SignOffKey(intent=intent, change=key_of(group))
