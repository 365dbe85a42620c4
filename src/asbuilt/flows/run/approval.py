"""What a user has approved or waived for a run: its intent, its file, the names on its commits, unmet items.

Rules: a run of an approved plan works only on an intent that has a yes. A waiver covers one item of one
revision of the plan, and has a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.errors import GateStopped, NameTaken
from asbuilt.events.phases import PhaseProven
from asbuilt.events.plans import PlanCarried, PlanFiled
from asbuilt.events.questions import WaiverKey
from asbuilt.flows.run.marks import marked
from asbuilt.flows.run.record import ACTOR, Record
from asbuilt.journal import drafts
from asbuilt.journal.events import keyed
from asbuilt.journal.ids import Address
from asbuilt.library.atomic_files import create
from asbuilt.library.bounded_read import read_bytes
from asbuilt.lifecycle.approval import Approved, needs_approval, unchanged
from asbuilt.plan.markdown.source import digest
from asbuilt.plan.model import Phase
from asbuilt.plan.reader import read
from asbuilt.proof.verdict import Promise, Waived, Waiver

if TYPE_CHECKING:
    from asbuilt.flows.run.drift import Correction
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Transactions
    from asbuilt.lifecycle.delivery.facts import Landed, Work
    from asbuilt.lifecycle.run.facts import AttemptFacts


def need_approval(
    store: Transactions, blobs: Blobs, address: Address, *, slug: str, data: bytes, by: str
) -> None:
    """Refuse a text of an approved plan that is not approved itself, and ask for its approval."""
    with store.read() as session:
        known = drafts.drafts_of(session, address)
    plan = read(data)
    if not needs_approval(known, plan.intent):
        return
    approval = unchanged(known, plan.intent)
    name, state = approval and approval.name, "was declined"
    if name is None:
        text, run = blobs.put(data), known.approved[-1].run
        with store.write() as session:
            written = drafts.write(session, address, plan, run=run, by=by, text=text)
            name = drafts.ask(session, address, written, title=plan.title, actor=ACTOR).name
        state = "waits for a yes"
    raise GateStopped(
        f"{slug} is not the plan that {known.approved[-1].by} approved; what it wants now {state} ({name})",
        why="An approval covers only the text that was shown.",
        next_step=(
            f"`asbuilt plan open {slug}`, or see what differs: `asbuilt approve show {name}`"
            if approval
            else f"`asbuilt approve show {name}` shows what differs."
        ),
    )


def hold_to_approval(record: Record, data: bytes) -> None:
    """Refuse, in a run, a text of its plan that is not approved."""
    run = record.run
    with record.store.read() as session:
        asked = keyed(session, run.address, f"{run.run}/requested")
    by = asked.actor if asked else ACTOR
    need_approval(record.store, record.blobs, run.address, slug=run.options.slug, data=data, by=by)


def approvers(record: Record, phase_id: str) -> list[str]:
    """Return who approved the text that a phase was frozen from; empty if no approval was needed."""
    with record.store.read() as session:
        known = drafts.drafts_of(session, record.run.address)
    found = known.covering(record.frozen_plan(phase_id).intent) if known.approved else None
    return [] if found is None else [" ".join(found.by.split())]


def carry(record: Record, landed: Mapping[str, str], corrected: Mapping[str, Sequence[Correction]]) -> None:
    """Extend an approval to the text with the numbers corrected at landing.

    The user agreed to the numbers that a verdict depended on; the others changed no outcome.
    """
    with record.store.read() as session:
        known = drafts.drafts_of(session, record.run.address)
    if not known.approved or not corrected:
        return
    before = known.approved[-1]
    data = marked(record.blobs.get(before.text), landed, corrected=corrected)
    intent = read(data).intent
    if intent != before.intent:
        text = record.blobs.put(data)
        event = PlanCarried(of=before.intent, intent=intent, digest=digest(data), text=text)
        record.append(event, f"carried/{intent}")


def file_approved(record: Record, approved: Approved) -> None:
    """Write an approved text into the authoring's checkout, once; never overwrite another file."""
    run = record.run
    file = Path(run.options.checkout) / Path(run.plan).expanduser()
    data = record.blobs.get(approved.text)
    record.hold()
    try:
        create(file, data, name=run.plan)
    except NameTaken:
        if digest(read_bytes(file, name=run.plan)) != approved.digest:
            raise
    record.append(PlanFiled(path=run.plan, digest=approved.digest), "filed")


def promises_of(phase: Phase) -> tuple[Promise, ...]:
    """List the promises of a phase: its work items, then its criteria; if it has neither, its title."""
    return (
        *(Promise(item.text) for item in phase.work_items),
        *(Promise(criterion.text, is_criterion=True) for criterion in phase.criteria),
    ) or (Promise(phase.title),)


def waivers_of(record: Record, intent: str, items: Iterable[int]) -> dict[int, Waiver]:
    """Return the waived items of an intent, from any run; the newest answer counts."""
    answers = record.answered({item: WaiverKey(intent=intent, item=item).under for item in items})
    return {
        item: Waiver(
            " ".join((approval.note or "").split()),
            approval.answered_by or "",
            (approval.answered_at or "")[:10],
        )
        for item, approval in answers.items()
        if approval.answer == "yes"
    }


def waived_items(record: Record, phase: Phase, attempt: AttemptFacts) -> list[Waived]:
    """List the waived items of an attempt."""
    texts = [" ".join(promise.text.split()) for promise in promises_of(phase)]
    waivers = waivers_of(record, phase.intent, attempt.unproven)
    return [Waived(item, texts[item - 1], *waiver) for item, waiver in waivers.items()]


def kept_waived(record: Record, digest: str | None) -> tuple[Waived, ...]:
    """Read waived items back from a blob."""
    return () if digest is None else tuple(Waived(*row) for row in record.blobs.get_json(digest))


def waived_in(record: Record, works: Sequence[Work | Landed]) -> dict[str, tuple[Waived, ...]]:
    """Return the waived items of some proven phases, by phase."""
    digests = {
        work.phase: record.event(PhaseProven, f"{work.phase}/proven", run=work.run).waived for work in works
    }
    return {phase: kept_waived(record, digest) for phase, digest in digests.items() if digest}
