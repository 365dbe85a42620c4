"""Run the stored checks of a run again on the stored trees, and judge its verdicts again.

Rule: nothing is written to the journal. Earlier results are read; the caller deletes the new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from asbuilt.errors import NotFound, StoreFailed
from asbuilt.events.attempts import Judged, TogetherDone, TogetherJudged, VerdictGiven
from asbuilt.flows.checks.change_inspection import Before, inspect, kept_remarks
from asbuilt.flows.checks.prove import Proving, tree_of
from asbuilt.flows.run.record import Record
from asbuilt.flows.trials.suite import Order
from asbuilt.flows.verification.judge import Exhibits, Subject, all_exhibits, phase_subject, plan_subject
from asbuilt.git.refs import base_of
from asbuilt.git.repository import Repository
from asbuilt.git.trees import is_here
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run.facts import WHOLE, AttemptFacts, PhaseFacts
from asbuilt.proof.evidence import Evidence, evidence_from
from asbuilt.proof.opinion import opinion_from
from asbuilt.proof.replay import VERDICT, Again, checks_again, remarks_again, verdict_again
from asbuilt.proof.verdict import faults_in, item_from, judge

if TYPE_CHECKING:
    from asbuilt.flows.environments.check_environment import CheckEnvironments

HERE: Final = "its commits"


class Replayed(NamedTuple):
    """A phase of a run, or all of them together, replayed."""

    phase: str
    title: str
    rows: tuple[Again, ...]

    @property
    def holds(self) -> bool:
        """Whether every result is the same as then."""
        return all(row.holds for row in self.rows)


class Replay:
    """One run, and a repository that has its commits: the run's own, or any clone."""

    def __init__(
        self, record: Record, repository: Repository, environments: CheckEnvironments, facts: PlanFacts
    ) -> None:
        self._record = record
        self._repository = repository
        self._environments = environments
        self._facts = facts

    def parts(self) -> dict[str, Callable[[], Replayed]]:
        """Return what can be replayed: the phases in the order of their proof, then all together."""
        facts = self._facts
        order = [work.phase for work in facts.works]
        order += [phase for phase in facts.phases if phase not in order]
        phases = [facts.phases[phase] for phase in order]
        found = {
            phase.id: self._part(phase.id, phase.title, self._of_phase(phase, last))
            for phase in phases
            if (
                last := next(
                    (attempt for attempt in reversed(phase.attempts) if attempt.evidence is not None), None
                )
            )
        }
        if facts.whole.items is not None:
            found[WHOLE] = self._part("-", "All phases together", self._of_all())
        return found

    def _part(self, phase: str, title: str, rows: Iterator[Again]) -> Callable[[], Replayed]:
        def replayed() -> Replayed:
            try:
                return Replayed(phase, title, tuple(rows))
            except (NotFound, StoreFailed) as error:
                return Replayed(phase, title, (Again("what was kept", "there", "gone", error.what),))

        return replayed

    def _of_phase(self, phase: PhaseFacts, last: AttemptFacts) -> Iterator[Again]:
        record, repository = self._record, self._repository
        commit = self._found(last.tree or "", last.commit, phase.proven)
        if commit is None:
            yield self._missing()
            return
        frozen, text = record.frozen(phase.id)
        base, works = base_of(repository, commit), (*self._facts.unlanded, *self._facts.works)
        earlier = Before(record, repository, works, base)
        order = Order(tree_of(repository, base), text, earlier=earlier.starts, landed=earlier.landed)
        checks = [check.command for check in frozen.checks]
        seen = inspect(record, repository, phase.id, commit, again=True)
        # If the suite was tampered with, its result shows nothing.
        now = [] if seen.failing else self._proving.prove(last.tree or "", checks, order=order, again=True)
        if last.remarks is not None:
            yield from remarks_again(kept_remarks(record, last.remarks), seen.after(now, earlier.orders(now)))
        yield from checks_again(self._shown(last.evidence), now)
        if last.items is not None:
            moved = replace(phase, attempts=[replace(last, commit=commit)])
            exhibits = Exhibits(record, repository, moved, last.number, shown=now)
            judged = record.event(VerdictGiven, f"{phase.id}/{last.number}/verdict")
            yield from self._verdict(phase_subject(record, phase.id), exhibits, judged)

    def _of_all(self) -> Iterator[Again]:
        record, facts = self._record, self._facts
        works = (*facts.unlanded, *facts.works)
        commit = works[-1].commit
        if not all(is_here(self._repository, work.commit) for work in works):
            yield self._missing()
            return
        frozen = [record.frozen(work.phase, run=work.run)[0] for work in works]
        checks = dict.fromkeys(check.command for phase in frozen for check in phase.checks)
        now = self._proving.prove(tree_of(self._repository, commit), [*checks], again=True)
        yield from checks_again(self._shown(record.event(TogetherDone, "together").evidence), now)
        exhibits = all_exhibits(record, self._repository, works, shown=now)
        yield from self._verdict(
            plan_subject(record, works), exhibits, record.event(TogetherJudged, "together/judged")
        )

    def _verdict(self, subject: Subject, exhibits: Exhibits, judged: Judged) -> Iterator[Again]:
        if judged.opinion is UNSET:
            yield Again(VERDICT, "given", "not kept", "an earlier version of asbuilt kept no opinion")
            return
        opinion = opinion_from(self._record.blobs.get_json(judged.opinion)) if judged.opinion else None
        verdict = judge(subject.promises, opinion, exhibits.held(subject.intent, opinion))
        items = [item_from(row) for row in self._record.blobs.get_json(judged.items or "")]
        yield from verdict_again(items, faults_in(judged.failures), verdict)

    @property
    def _proving(self) -> Proving:
        base = tree_of(self._repository, self._facts.base or "")
        return Proving(self._record, self._repository, self._environments, base)

    def _shown(self, digest: str | None) -> Sequence[Evidence]:
        return [evidence_from(row) for row in self._record.blobs.get_json(digest or "")]

    def _found(self, tree: str, *commits: str | None) -> str | None:
        """Return one of these commits, or what landed of it, that has exactly this tree; else None."""
        landed_as = {landed.commit: landed.landed_as for landed in self._facts.landed}
        known = dict.fromkeys((*commits, *(landed_as.get(commit or "") for commit in commits)))
        here = (commit for commit in known if commit and is_here(self._repository, commit))
        found = next((commit for commit in here if tree_of(self._repository, commit) == tree), None)
        return found if is_here(self._repository, self._facts.base or "") else None

    def _missing(self) -> Again:
        return Again(HERE, "here", "not here", f"{self._repository.root} has not fetched them")
