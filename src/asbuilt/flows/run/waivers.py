"""Items that a user accepted unmet.

Rule: a waiver covers one item of one revision of the plan, and has a reason.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from asbuilt.events.phases import PhaseProven
from asbuilt.events.questions import WaiverKey
from asbuilt.proof.verdict import Promise, Waived, Waiver

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.flows.run.record import Record
    from asbuilt.lifecycle.delivery.facts import Landed, Work
    from asbuilt.lifecycle.run.facts import AttemptFacts
    from asbuilt.plan.model import Phase


def promises_of(phase: Phase) -> tuple[Promise, ...]:
    """List the promises of a phase: its work items, then its criteria; if it has neither, its title."""
    return (
        *(Promise(item.text) for item in phase.work_items),
        *(Promise(criterion.text, is_criterion=True) for criterion in phase.criteria),
    ) or (Promise(phase.title),)


def waivers_of(record: Record, intent: str, items: Iterable[int]) -> dict[int, Waiver]:
    """Return the waived items of an intent, from any run; the newest answer counts."""
    said = record.answered({item: WaiverKey(intent=intent, item=item).under for item in items})
    return {
        item: Waiver(" ".join((one.note or "").split()), one.answered_by or "", (one.answered_at or "")[:10])
        for item, one in said.items()
        if one.answer == "yes"
    }


def waived_items(record: Record, phase: Phase, attempt: AttemptFacts) -> list[Waived]:
    """List the waived items of an attempt."""
    texts = [" ".join(promise.text.split()) for promise in promises_of(phase)]
    waivers = waivers_of(record, phase.intent, attempt.unproven)
    return [Waived(item, texts[item - 1], *waiver) for item, waiver in waivers.items()]


def keep_waived(record: Record, waived: Sequence[Waived]) -> str:
    """Keep waived items as a blob and return its digest."""
    return record.blobs.put(json.dumps(waived).encode())


def kept_waived(record: Record, digest: str | None) -> tuple[Waived, ...]:
    """Read waived items back from a blob."""
    return () if digest is None else tuple(Waived(*one) for one in json.loads(record.blobs.get(digest)))


def waived_in(record: Record, works: Sequence[Work | Landed]) -> dict[str, tuple[Waived, ...]]:
    """Return the waived items of some proven phases, by phase."""
    told = {
        work.phase: record.told(PhaseProven, f"{work.phase}/proven", run=work.run).waived for work in works
    }
    return {phase: kept_waived(record, digest) for phase, digest in told.items() if digest}
