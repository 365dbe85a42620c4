"""What of proven work a person has to look at before it lands, and what they have said to it.

The one rule: a sign-off is of one change of one intent; another content of the same file is another change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.phases import PhaseProven
from asbuilt.events.questions import SignOffKey, in_run
from asbuilt.flows.checks.inspect import kept_remarks
from asbuilt.lifecycle.delivery.facts import SignOff
from asbuilt.proof.remarks import asked_about, key_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.flows.run.record import Record
    from asbuilt.lifecycle.delivery.facts import Work
    from asbuilt.proof.remarks import Remark

_QUESTION: Final = 600


def sign_offs(record: Record, works: Iterable[Work], intents: Mapping[Work, str]) -> list[SignOff]:
    """List what of some proven phases wants a person's word."""
    found = []
    for work in works:
        kept = record.told(PhaseProven, f"{work.phase}/proven", run=work.run).remarks
        for group in asked_about(kept_remarks(record, kept)):
            question = f"sign off {words_of(group)}"[:_QUESTION]
            found.append(SignOff(_key(intents[work], group).item, work.phase, question))
    return found


def unsigned(record: Record, wanted: Sequence[SignOff]) -> list[SignOff]:
    """Give those that still wait; a yes in whatever run is one."""
    said = record.answered({one.item: in_run(one.item, "") for one in wanted})
    return [one for one in wanted if one.item not in said or said[one.item].answer != "yes"]


def signed_off(record: Record, intent: str, remarks: Iterable[Remark]) -> dict[str, str]:
    """Tell what a person has said to each change, by the remark's key."""
    questions = {one.key: _key(intent, group).under for group in asked_about(remarks) for one in group}
    return {
        key: f"{said.answer} by {said.answered_by} on {(said.answered_at or '')[:10]}"
        + (f": {said.note}" if said.note else "")
        for key, said in record.answered(questions).items()
    }


def _key(intent: str, group: Sequence[Remark]) -> SignOffKey:
    return SignOffKey(intent=intent, change=key_of(group))
