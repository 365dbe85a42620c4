"""Gather what a verdict is checked against: the diff, the evidence, the tests that ran, waivers.

Rule: it is read from git, blobs and journal each time, so that a replay finds the same.

The subject is one phase as frozen, or all phases that are pending to land as one change. Rule: it is built
from frozen texts alone, so that a replay judges the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from asbuilt.events.attempts import TogetherDone
from asbuilt.flows.checks.prove import tree_of
from asbuilt.flows.landing.commits import attempt_of
from asbuilt.flows.run.approval import promises_of
from asbuilt.flows.run.drift import Measured, agreed_to, kept_numbers, measure
from asbuilt.flows.run.record import Record
from asbuilt.git.refs import base_of, touched
from asbuilt.git.repository import Repository
from asbuilt.git.trees import lines_of
from asbuilt.lifecycle.delivery.facts import Work
from asbuilt.lifecycle.pull_request.facts import CI, CONFLICT
from asbuilt.lifecycle.run.facts import WHOLE, AttemptFacts, PhaseFacts
from asbuilt.proof.drift.measured_numbers import Number, accepted, against
from asbuilt.proof.evidence import Evidence, evidence_from
from asbuilt.proof.opinion import Line, Opinion
from asbuilt.proof.verdict import Held, Promise, Waiver, one_spelling

_LOOKED_UP: Final = 500
"""Most files whose lines are counted for one opinion."""
_BESIDE: Final = (
    "no phase reverts or contradicts the work of another phase",
    "nothing is there twice: no second definition, import or file for the same purpose",
)
"""Promises that only the whole can break."""
_REPAIRS: Final = {
    CI: "Fix the failing checks of the pull request",
    CONFLICT: "Resolve a conflict with later commits of the target",
}


class Exhibits:
    """Everything that one attempt of a phase has to show: its kept evidence, or new evidence in `shown`."""

    def __init__(
        self,
        record: Record,
        repository: Repository,
        phase: PhaseFacts,
        number: int,
        *,
        shown: Sequence[Evidence] | None = None,
        since: str | None = None,
    ) -> None:
        """Keep the parts; `since` is the commit to compare with, if that is not its own base."""
        self._record = record
        self._repository = repository
        self._shown = shown
        self._phase = phase.id
        self._attempt = attempt_of(phase, number)
        self._commit = self._attempt.commit or ""
        self.base = since or base_of(repository, self._commit)
        there = touched(repository, self.base, self._commit)
        self.changed = frozenset(path for path, is_there in there.items() if is_there)
        self.removed = frozenset(there) - self.changed
        self.measured = Measured(kept_numbers(record, self._attempt.numbers))
        """The measured numbers that the phase states; the first judgement measures them."""
        self.written: tuple[str, ...] = ()
        """Files that the verifier changed, found after it ended."""

    @property
    def tree(self) -> str:
        """The tree that is judged."""
        return tree_of(self._repository, self._commit)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Evidence of the checks on its tree."""
        if self._shown is not None:
            return tuple(self._shown)
        kept = self._record.blobs.get_json(self._attempt.evidence) if self._attempt.evidence else ()
        return tuple(map(evidence_from, kept))

    def held(self, intent: str, opinion: Opinion | None) -> Held:
        """Return everything that an opinion can cite."""
        cited = {
            citation.path
            for entry in (opinion.entries if opinion else ())
            for citation in entry.evidence
            if isinstance(citation, Line)
        }
        lines = (
            (path, lines_of(self._repository, self._commit, path))
            for path in islice(sorted(cited), _LOOKED_UP)
        )
        shown = self.evidence
        return Held(
            intent=intent,
            changed=self.changed,
            removed=self.removed,
            lines={path: count for path, count in lines if count is not None},
            checks={evidence.name: evidence.outcome for evidence in shown},
            suites=frozenset(evidence.name for evidence in shown if evidence.is_suite),
            passed=self._passed(shown),
            idle=self._idle(shown),
            idle_checks=frozenset(evidence.name for evidence in shown if evidence.before == "passes"),
            says=self._attempt.says,
            against=against(self.numbers, agreed_to(self._record, intent, self.numbers)),
            written=self.written,
        )

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The measured numbers that the phase states."""
        return self.measured.numbers

    def measure(self, verifier_lines: Sequence[str]) -> None:
        """Measure the numbers, with the verifier's claims about them."""
        self.measured = measure(self._record, self._phase, self._attempt, self.evidence, verifier_lines)

    def accepted(self, intent: str) -> dict[int, Waiver]:
        """Return the items that a verifier fails for a number that a user has agreed to."""
        return accepted(self.numbers, agreed_to(self._record, intent, self.numbers))

    def _idle(self, shown: Sequence[Evidence]) -> frozenset[str]:
        """Return the tests that pass without this phase's work, as run on its base now or before."""
        before = tree_of(self._repository, self.base)
        known = self._passed([evidence for evidence in self._record.shown() if evidence.tree == before])
        proves = {one_spelling(name) for evidence in shown for name in evidence.proves}
        return (known - proves) | {one_spelling(name) for evidence in shown for name in evidence.idle}

    def _passed(self, shown: Sequence[Evidence]) -> frozenset[str]:
        """Return the tests that passed, from their runner's report or output."""
        counted = [self._record.counts_of(evidence) for evidence in shown if evidence.is_suite]
        return frozenset(one_spelling(name) for counts in counted if counts for name in counts.passed)


class Subject(NamedTuple):
    """What is judged, and its promises."""

    id: str
    title: str
    text: str
    intent: str
    promises: tuple[Promise, ...]


def phase_subject(record: Record, phase: str) -> Subject:
    """Return a phase as it was frozen."""
    frozen, text = record.frozen(phase)
    return Subject(phase, frozen.title, text, frozen.intent, promises_of(frozen))


def plan_subject(record: Record, works: Sequence[Work]) -> Subject:
    """Return several proven phases as one subject: each still holds, and they fit together."""
    frozen = [record.frozen(work.phase, run=work.run) for work in works]
    stand = (f"phase {phase.id}, {phase.title}: still does what it promised" for phase, _ in frozen)
    intents = "\n".join(phase.intent for phase, _ in frozen)
    return Subject(
        WHOLE,
        "All phases together",
        "\n\n".join(text for _, text in frozen),
        f"sha256:{hashlib.sha256(intents.encode()).hexdigest()}",
        tuple(Promise(text, is_criterion=True) for text in (*stand, *_BESIDE)),
    )


def repair_subject(record: Record, works: Sequence[Work], repair: str) -> Subject:
    """Return the subject of a repair: all phases of the pull request, which it must keep intact."""
    return plan_subject(record, works)._replace(id=repair, title=_REPAIRS[repair])


def all_exhibits(
    record: Record, repository: Repository, works: Sequence[Work], *, shown: Sequence[Evidence] | None = None
) -> Exhibits:
    """Return what all of them have to show: the diff from the first one's base, and the last checks."""
    last = AttemptFacts(
        0, "verify", commit=works[-1].commit, evidence=record.event(TogetherDone, "together").evidence
    )
    since = base_of(repository, works[0].commit)
    return Exhibits(record, repository, PhaseFacts(WHOLE, attempts=[last]), 0, shown=shown, since=since)
