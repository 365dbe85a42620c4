"""What a verifier judges: one phase as it was frozen, or all phases that wait to be landed as one change.

The one rule: it is made of frozen texts alone, so that whoever judges it again judges the same.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import TogetherDone
from asbuilt.flows.run.waivers import promises_of
from asbuilt.flows.verification.judge import Exhibits
from asbuilt.git.changes import base_of
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
    "no phase takes back or contradicts what another one has built",
    "nothing is there twice: no second definition, import or file for the same purpose",
)
"""What only shows when all phases are there."""
_REPAIRS: Final = {
    CI: "Mend what the checks of the pull request have found",
    CONFLICT: "Resolve a conflict with what others have brought since",
}


class Matter(NamedTuple):
    """What is judged, and by which promises."""

    id: str
    title: str
    text: str
    intent: str
    promises: tuple[Promise, ...]


def phase_matter(record: Record, phase: str) -> Matter:
    """Give a phase as it was frozen."""
    frozen, text = record.frozen(phase)
    return Matter(phase, frozen.title, text, frozen.intent, promises_of(frozen))


def all_matter(record: Record, works: Sequence[Work]) -> Matter:
    """Give several proven phases as one matter: each still stands, and they go together."""
    frozen = [record.frozen(work.phase, run=work.run) for work in works]
    stand = (f"phase {phase.id}, {phase.title}: what it promised still stands" for phase, _ in frozen)
    intents = "\n".join(phase.intent for phase, _ in frozen)
    return Matter(
        WHOLE,
        "All phases together",
        "\n\n".join(text for _, text in frozen),
        f"sha256:{hashlib.sha256(intents.encode()).hexdigest()}",
        tuple(Promise(text, is_criterion=True) for text in (*stand, *_BESIDE)),
    )


def repair_matter(record: Record, works: Sequence[Work], repair: str) -> Matter:
    """Give what an agent has to keep whole that mends something of a pull request: all phases in it."""
    return all_matter(record, works)._replace(id=repair, title=_REPAIRS[repair])


def all_exhibits(
    record: Record,
    repository: Repository,
    works: Sequence[Work],
    *,
    shown: Sequence[Evidence] | None = None,
) -> Exhibits:
    """Give what all of them have to show: the difference from where the first began, and the last checks."""
    last = AttemptFacts(
        0, "verify", commit=works[-1].commit, evidence=record.told(TogetherDone, "together").evidence
    )
    since = base_of(repository, works[0].commit)
    return Exhibits(record, repository, PhaseFacts(WHOLE, attempts=[last]), 0, shown=shown, since=since)
