"""What of proven work a person has to look at before it lands, and what they have said to it.

The one rule: a sign-off is of one change of one intent; another content of the same file is another change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.flows.inspecting import kept_remarks
from asbuilt.lifecycle.facts import SignOff
from asbuilt.proof.remarks import for_a_person

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from asbuilt.flows.record import Record
    from asbuilt.journal.approvals import Approval
    from asbuilt.lifecycle.facts import Work
    from asbuilt.proof.remarks import Remark

_QUESTION: Final = 600


def sign_offs(record: Record, works: Iterable[Work], intents: Mapping[Work, str]) -> list[SignOff]:
    """List what of some proven phases waits for a person's word; a yes in whatever run is one."""
    found = []
    for work in works:
        kept = record.told(f"{work.phase}/proven", run=work.run).get("remarks")
        remarks = kept_remarks(record, kept)
        signed = _answers(record, intents[work], remarks)
        for remark in for_a_person(remarks):
            if remark.key not in signed or signed[remark.key].answer != "yes":
                question = f"sign off {remark.words}"
                found.append(SignOff(_item(intents[work], remark), work.phase, question[:_QUESTION]))
    return found


def signed_off(record: Record, intent: str, remarks: Iterable[Remark]) -> dict[str, str]:
    """Tell what a person has said to each change, by the remark's key."""
    return {
        key: f"{said.answer} by {said.answered_by} on {(said.answered_at or '')[:10]}"
        + (f": {said.note}" if said.note else "")
        for key, said in _answers(record, intent, remarks).items()
    }


def _answers(record: Record, intent: str, remarks: Iterable[Remark]) -> dict[str, Approval]:
    return record.answered({one.key: _item(intent, one) for one in for_a_person(remarks)})


def _item(intent: str, remark: Remark) -> str:
    return f"sign-off/{intent}/{remark.key}"
