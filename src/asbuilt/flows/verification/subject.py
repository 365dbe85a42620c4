"""The subject of a verifier: one phase as frozen, or all phases that are pending to land as one change.

Rule: it is built from frozen texts alone, so that a replay judges the same.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import TogetherDone
from asbuilt.flows.run.approval import promises_of
from asbuilt.flows.verification.judge import Exhibits
from asbuilt.git.refs import base_of
from asbuilt.lifecycle.pull_request.facts import CI, CONFLICT
from asbuilt.lifecycle.run.facts import WHOLE, AttemptFacts, PhaseFacts
from asbuilt.proof.verdict import Promise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.flows.run.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.delivery.facts import Work
    from asbuilt.proof.evidence import Evidence

_BESIDE: Final = (
    "no phase reverts or contradicts the work of another phase",
    "nothing is there twice: no second definition, import or file for the same purpose",
)
"""Promises that only the whole can break."""
_REPAIRS: Final = {
    CI: "Fix the failing checks of the pull request",
    CONFLICT: "Resolve a conflict with later commits of the target",
}


class Matter(NamedTuple):
    """What is judged, and its promises."""

    id: str
    title: str
    text: str
    intent: str
    promises: tuple[Promise, ...]


def phase_matter(record: Record, phase: str) -> Matter:
    """Return a phase as it was frozen."""
    frozen, text = record.frozen(phase)
    return Matter(phase, frozen.title, text, frozen.intent, promises_of(frozen))


def all_matter(record: Record, works: Sequence[Work]) -> Matter:
    """Return several proven phases as one subject: each still holds, and they fit together."""
    frozen = [record.frozen(work.phase, run=work.run) for work in works]
    stand = (f"phase {phase.id}, {phase.title}: still does what it promised" for phase, _ in frozen)
    intents = "\n".join(phase.intent for phase, _ in frozen)
    return Matter(
        WHOLE,
        "All phases together",
        "\n\n".join(text for _, text in frozen),
        f"sha256:{hashlib.sha256(intents.encode()).hexdigest()}",
        tuple(Promise(text, is_criterion=True) for text in (*stand, *_BESIDE)),
    )


def repair_matter(record: Record, works: Sequence[Work], repair: str) -> Matter:
    """Return the subject of a repair: all phases of the pull request, which it must keep intact."""
    return all_matter(record, works)._replace(id=repair, title=_REPAIRS[repair])


def all_exhibits(
    record: Record,
    repository: Repository,
    works: Sequence[Work],
    *,
    shown: Sequence[Evidence] | None = None,
) -> Exhibits:
    """Return what all of them have to show: the diff from the first one's base, and the last checks."""
    last = AttemptFacts(
        0, "verify", commit=works[-1].commit, evidence=record.told(TogetherDone, "together").evidence
    )
    since = base_of(repository, works[0].commit)
    return Exhibits(record, repository, PhaseFacts(WHOLE, attempts=[last]), 0, shown=shown, since=since)
