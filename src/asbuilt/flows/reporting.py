"""Gather the facts of a run's account. What is not kept any more is left out, never made up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.flows.outcomes import branch_of
from asbuilt.flows.signoffs import signed_off
from asbuilt.flows.waivers import kept_waived
from asbuilt.flows.working import items_of
from asbuilt.git import snapshots
from asbuilt.lifecycle.report import Account, AttemptAccount, PhaseAccount
from asbuilt.proof.evidence import evidence_from
from asbuilt.proof.remarks import remark_from
from asbuilt.proof.verdict import item_from

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.flows.record import Record
    from asbuilt.lifecycle.facts import AttemptFacts, PhaseFacts, RunFacts


def account_of(record: Record, facts: RunFacts, folder: Path, now: str) -> Account:
    """Gather what a report says of a run; `folder` is where its workspaces are."""
    run = record.run
    order = [work.phase for work in facts.works]
    order += [phase.id for phase in facts.phases.values() if phase.begun and phase.id not in order]
    return Account(
        name=f"{run.options['slug']}.{run.number}",
        plan=run.plan,
        slug=run.options["slug"],
        kind=facts.kind,
        target=run.options["branch"],
        branch=branch_of(record),
        state=facts.ended or "proven",
        reason=facts.reason,
        at=now,
        phases=tuple(_phase(record, facts, facts.phases[phase]) for phase in reversed(order)),
        landed=tuple(facts.landed),
        pending=facts.pending,
        undone=facts.undoes if facts.ended == "undone" else (),
        workspaces=tuple(str(path) for path in sorted(folder.iterdir())) if folder.is_dir() else (),
    )


def _phase(record: Record, facts: RunFacts, phase: PhaseFacts) -> PhaseAccount:
    frozen, _ = record.frozen(phase.id)
    attempts = tuple(_attempt(record, phase.id, attempt) for attempt in phase.attempts)
    stands = {one.commit: one.stands for one in facts.landed}
    return PhaseAccount(
        id=phase.id,
        title=frozen.title,
        promised=items_of(frozen),
        attempts=attempts,
        proven=phase.proven,
        landed=stands.get(phase.proven or ""),
        waived=kept_waived(record, phase.waived),
        signed=signed_off(record, frozen.intent, attempts[-1].remarks if attempts else ()),
    )


def _attempt(record: Record, phase: str, attempt: AttemptFacts) -> AttemptAccount:
    name = f"{record.run.run}.{phase}.{attempt.number}"
    return AttemptAccount(
        number=attempt.number,
        role=attempt.role,
        ending=attempt.ending or "not ended",
        reason=attempt.reason,
        says=attempt.says,
        kept=f"{snapshots.ATTEMPTS}{name}" if attempt.commit else None,
        evidence=tuple(evidence_from(one) for one in _kept(record, attempt.evidence)),
        items=tuple(item_from(one) for one in _kept(record, attempt.items)),
        remarks=tuple(remark_from(one) for one in _kept(record, attempt.remarks)),
    )


def _kept(record: Record, digest: str | None) -> list[Any]:
    if digest is None:
        return []
    try:
        kept: list[Any] = json.loads(record.blobs.get(digest))
    except (NotFound, StoreFailed):
        return []
    return kept
