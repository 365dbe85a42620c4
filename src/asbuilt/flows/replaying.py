"""Run the stored checks of a run again on the stored trees, and judge its verdicts anew.

The one rule: nothing is written down. What was shown then is read, what is shown now goes again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.flows.judging import Exhibits
from asbuilt.flows.proving import Proving, tree_of
from asbuilt.flows.trials import Order
from asbuilt.flows.waivers import promises_of
from asbuilt.git.changes import base_of
from asbuilt.git.trees import is_here
from asbuilt.proof.evidence import evidence_from
from asbuilt.proof.opinion import opinion_from
from asbuilt.proof.replay import VERDICT, Again, checks_again, verdict_again
from asbuilt.proof.verdict import item_from, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from asbuilt.flows.record import Record
    from asbuilt.flows.rigs import Rigs
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.facts import AttemptFacts, PhaseFacts, RunFacts
    from asbuilt.proof.evidence import Evidence

_OF_VERDICT = "the verdict: "


class Replayed(NamedTuple):
    """A phase of a run, looked at again."""

    phase: str
    title: str
    attempt: int
    rows: tuple[Again, ...]

    @property
    def holds(self) -> bool:
        """Tell whether everything came out as it did then."""
        return all(row.holds for row in self.rows)


class Replay:
    """One run, and a repository that has its commits: the one it ran in, or any clone."""

    def __init__(self, record: Record, repository: Repository, rigs: Rigs, facts: RunFacts) -> None:
        self._record = record
        self._repository = repository
        self._rigs = rigs
        self._facts = facts

    def phases(self) -> list[PhaseFacts]:
        """List the phases of which something was shown, in the order in which they were proven."""
        order = [work.phase for work in self._facts.works]
        shown = [phase for phase in self._facts.phases.values() if _last(phase) is not None]
        return sorted(shown, key=lambda phase: order.index(phase.id) if phase.id in order else len(order))

    def phase(self, phase: PhaseFacts) -> Replayed:
        """Look at a phase again: its last attempt that came to checks."""
        last = _last(phase)
        if last is None:
            raise LookupError(phase.id)
        try:
            rows = tuple(self._rows(phase, last))
        except (NotFound, StoreFailed) as error:
            rows = (Again("what was kept", "there", "not there", error.what),)
        return Replayed(phase.id, phase.title, last.number, rows)

    def _rows(self, phase: PhaseFacts, last: AttemptFacts) -> Iterator[Again]:
        then = [evidence_from(one) for one in json.loads(self._record.blobs.get(last.evidence or ""))]
        commit, base = self._commit(phase, last), self._facts.base or ""
        if commit is None or not is_here(self._repository, base):
            yield Again("its commits", "here", "not here", f"{self._repository.root} has not fetched them")
            return
        frozen, text = self._record.frozen(phase.id)
        proving = Proving(self._record, self._repository, self._rigs, tree_of(self._repository, base))
        order = Order(tree_of(self._repository, base_of(self._repository, commit)), text)
        checks = [check.command for check in frozen.checks]
        now = proving.prove(last.tree or "", checks, order=order, anew=True)
        yield from checks_again(then, now)
        if last.items is not None:
            yield from self._verdict(phase, replace(last, commit=commit), now)

    def _verdict(self, phase: PhaseFacts, last: AttemptFacts, now: Sequence[Evidence]) -> Iterator[Again]:
        told = self._record.told(f"{phase.id}/{last.number}/verdict")
        if "opinion" not in told:
            yield Again(VERDICT, "given", "not kept", "an earlier version of asbuilt kept no opinion")
            return
        kept = told["opinion"] and self._record.blobs.get(told["opinion"])
        opinion = opinion_from(json.loads(kept)) if kept else None
        frozen, _ = self._record.frozen(phase.id)
        moved = replace(phase, attempts=[last])
        exhibits = Exhibits(self._record, self._repository, moved, last.number, shown=now)
        verdict = judge(promises_of(frozen), opinion, exhibits.held(frozen.intent, opinion))
        items = [item_from(one) for one in json.loads(self._record.blobs.get(last.items or ""))]
        faults = [one for one in told["failures"] if one.startswith(_OF_VERDICT)]
        yield from verdict_again(items, faults, verdict)

    def _commit(self, phase: PhaseFacts, last: AttemptFacts) -> str | None:
        """Find a commit that has the attempt's very tree: the kept one, or what came of it."""
        stands = {one.commit: one.stands for one in self._facts.landed}
        known = (last.commit, phase.proven, stands.get(phase.proven or ""))
        here = (commit for commit in known if commit and is_here(self._repository, commit))
        return next((commit for commit in here if tree_of(self._repository, commit) == last.tree), None)


def _last(phase: PhaseFacts) -> AttemptFacts | None:
    return next((one for one in reversed(phase.attempts) if one.evidence is not None), None)
