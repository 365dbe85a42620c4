"""Give work to agents, and record how they ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace
from msgspec.structs import replace as evolve

from asbuilt.events.attempts import AttemptBegun, TogetherJudged, TogetherJudging, VerifierBegun
from asbuilt.events.event import Event
from asbuilt.flows.attempts.endings import attempt_ended, judged_of, unjudged, verdict_given, verifier_ended
from asbuilt.flows.attempts.snapshot import keep_early
from asbuilt.flows.environments.results import Results
from asbuilt.flows.landing.commits import attempt_of, take
from asbuilt.flows.run.agent_accounts import account_of, learn
from asbuilt.flows.run.approval import waivers_of
from asbuilt.flows.run.briefs import brief_for
from asbuilt.flows.run.drift import record_drift
from asbuilt.flows.run.environment import kept_for
from asbuilt.flows.run.record import Record
from asbuilt.flows.verification.judge import (
    Exhibits,
    Subject,
    all_exhibits,
    phase_subject,
    plan_subject,
    repair_subject,
)
from asbuilt.git.repository import Repository
from asbuilt.git.workspace.workspaces import written_in
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.pull_request.facts import REPAIRS
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import RESUMABLE, WHOLE, AttemptFacts, RunFacts
from asbuilt.ports import Brief, Result, Workspace
from asbuilt.proof.change.restored_test_settings import is_cache
from asbuilt.proof.drift.measured_numbers import Weighed, weigh
from asbuilt.proof.evidence import Evidence
from asbuilt.proof.opinion import Opinion
from asbuilt.proof.verdict import Verdict

if TYPE_CHECKING:
    from asbuilt.flows.attempts.hosts import Hosts
    from asbuilt.flows.checks.outside_changes import Surroundings
    from asbuilt.flows.checks.pictures import Tries
    from asbuilt.policy.roles import Role

_MOST_PATHS: Final = 500
"""Most file names in a verifier's brief; its workspace has the whole diff."""
_UNSEEN: Final = 50
"""Most places of new code in a verifier's brief that no test runs or notices."""


class _Verifying(NamedTuple):
    subject: Subject
    exhibits: Exhibits
    name: str
    """The verifier's address below the run: `2a.1v`, a tester's `2a.1t`."""
    role: Role = "verify"


class Working:
    """The agents of a worker."""

    def __init__(self, hosts: Hosts, rooms: Path, setups: Path) -> None:
        """Keep the parts. Runs have folders in `rooms`, repositories their setups in `setups`."""
        self._hosts = hosts
        self._rooms = rooms
        self._setups = setups

    def attempt(
        self,
        record: Record,
        workspace: Workspace,
        facts: DeliveryFacts,
        move: moves.Attempt,
        around: Surroundings | None = None,
    ) -> None:
        """Run an agent, or wait for a running one. Without a sandbox, compare what is `around` afterwards."""
        attempt = f"{record.run.run}.{move.phase}.{move.number}"
        self._hosts.adopt(record, attempt)
        known, start = _known(facts, move)
        if known is not None and known.is_moved and not self._hosts.is_there(attempt, known.ended_start):
            # The lost worker's agent is started again here: a start of its own, with a cost of its own.
            start = known.starts + 1
        key = f"{move.phase}/{move.number}"
        role: Role = "fix" if move.role == "fix" else "implement"
        notes = tuple(facts.pending_notes) if known is None else known.notes
        begun = evolve(_begun(record, move), notes=len(notes) if known is None else 0)
        record.append(evolve(begun, before=around.keep() if around else None), f"{key}/begun/{start}")
        subject = (
            repair_subject(record, facts.pending, move.phase)
            if move.phase in REPAIRS
            else phase_subject(record, move.phase)
        )
        brief = brief_for(record, subject, workspace, facts, attempt=attempt, role=role)
        given = self._given(record, brief.program.kind)
        brief = replace(brief, failures=move.failures, notes=notes, **given)
        after = 0 if known is None else known.ended_start
        if not self._hosts.is_there(attempt, after):
            take(record, workspace, facts, attempt)
        ended = self._hosts.await_end(record, brief, after=after)
        keep_early(record, workspace, attempt)
        outside = around.keep_strayed(move.phase) if around and ended.ring == "none" else None
        event = attempt_ended(record, move, known, brief, [ended])
        drift = record.blobs.put_json(ended.drift) if ended.drift else None
        self._record_event(
            record, facts, brief, evolve(event, drift=drift, outside=outside), f"{key}/ended/{start}"
        )

    def converse(self, record: Record, facts: RunFacts, move: moves.Attempt, briefs: Sequence[Brief]) -> None:
        """Run the agents of an authoring stage in parallel, or wait for running ones; keep their outputs."""
        known, start = _known(facts, move)
        key = f"{move.phase}/{move.number}"
        record.append(evolve(_begun(record, move), agents=len(briefs)), f"{key}/begun/{start}")
        room = self._rooms / record.run.run
        ended_start = 0 if known is None else known.ended_start
        outgoing = [
            (
                replace(open_brief, environment=kept_for(room, open_brief.program.kind)),
                self._hosts.after(open_brief.attempt, ended_start),
            )
            for open_brief in briefs
        ]
        ended = self._hosts.await_all(record, outgoing)
        failed = next(
            (brief for brief, result in zip(briefs, ended, strict=True) if result.ending != "done"), briefs[0]
        )
        event = attempt_ended(record, move, known, failed, ended)
        output = record.blobs.put_json([result.says for result in ended])
        self._record_event(record, facts, failed, evolve(event, output=output), f"{key}/ended/{start}")

    def _record_event(self, record: Record, facts: RunFacts, brief: Brief, event: Event, key: str) -> None:
        """Record how an agent ended, with what that means for its account."""
        account = account_of(self._rooms / record.run.run, brief.program.kind)
        chain = facts.chain_name
        record.append(event, key, also=lambda session: learn(session, record.run, account, chain, event))

    def verify(
        self,
        record: Record,
        repository: Repository,
        workspace: Workspace,
        facts: PlanFacts,
        move: moves.Verify,
        repeat: Callable[[Tries], list[Evidence]],
    ) -> None:
        """Let a second agent judge the kept tree, in a read-only workspace of its own.

        A tester also drives the interface. `repeat` runs its tries again: these count as checks.
        """
        phase, number = facts.phases[move.phase], move.number
        judged = attempt_of(phase, number)
        role: Role = "test" if move.role == "test" else "verify"
        name = f"{number}{role[0]}{_again(judged)}"
        begun = VerifierBegun(
            phase=phase.id, number=number, agent=record.run.options.agent_of(role), role=role
        )
        self._begin_verifier(record, begun, f"{phase.id}/{name}", f"{phase.id}.{name}", judged)
        exhibits = Exhibits(record, repository, phase, number)
        verifying = _Verifying(phase_subject(record, phase.id), exhibits, f"{phase.id}.{name}", role)
        brief, ended = self._verify(
            record, repository, workspace, facts, verifying, judged.verifier_ended_start
        )
        if role == "test" and ended.ending == "done" and not ended.tries:
            ended = replace(ended, ending="failed", reason="The tester did not drive the interface.")
        if ended.ending != "done":
            key = f"{phase.id}/{name}/ended/{ended.starts}"
            event = verifier_ended(record, phase.id, number, judged, brief, ended)
            self._record_event(record, facts, brief, event, key)
            return
        if role == "test":
            tries = repeat(ended.tries)
            exhibits = Exhibits(record, repository, phase, number, shown=(*exhibits.evidence, *tries))
            verifying = verifying._replace(exhibits=exhibits)
            judgement = _judged(record, verifying, ended, _weighed(record, verifying, ended).verdict)
            tested = evolve(
                verdict_given(phase.id, number, judgement), role=role, evidence=record.keep(tries)
            )
            self._record_event(record, facts, brief, tested, f"{phase.id}/{number}/tested")
            return
        verifying.exhibits.measure(ended.drift)
        weighed = _weighed(record, verifying, ended)
        record_drift(record, phase.id, number, weighed, verifying.exhibits.measured)
        judgement = _judged(record, verifying, ended, weighed.verdict)
        verdict = verdict_given(phase.id, number, judgement)
        self._record_event(record, facts, brief, verdict, f"{phase.id}/{number}/verdict")

    def verify_together(
        self, record: Record, repository: Repository, workspace: Workspace, facts: PlanFacts
    ) -> None:
        """Let another agent judge all work that is pending to land, as one change."""
        whole, name = facts.whole, f"1v{_again(facts.whole)}"
        self._begin_verifier(record, TogetherJudging(), f"together/{name}", f"{WHOLE}.{name}", whole)
        exhibits = all_exhibits(record, repository, facts.pending)
        verifying = _Verifying(plan_subject(record, facts.pending), exhibits, f"{WHOLE}.{name}")
        brief, ended = self._verify(
            record, repository, workspace, facts, verifying, whole.verifier_ended_start
        )
        if ended.ending != "done":
            key = f"together/{name}/ended/{ended.starts}"
            self._record_event(record, facts, brief, unjudged(record, whole, brief, ended), key)
            return
        judged = _judged(record, verifying, ended, _weighed(record, verifying, ended).verdict)
        self._record_event(record, facts, brief, judged, "together/judged")

    def _begin_verifier(
        self, record: Record, event: Event, key: str, name: str, judged: AttemptFacts
    ) -> None:
        """Record a start of a verifier; one that was lost with its worker is started again, at a cost."""
        attempt = f"{record.run.run}.{name}"
        self._hosts.adopt(record, attempt)
        is_there = self._hosts.is_there(attempt, judged.verifier_ended_start)
        start = f"/{judged.verifier_starts + 1}" if judged.is_verifier_moved and not is_there else ""
        record.append(event, f"{key}/begun{start}")

    def _verify(
        self,
        record: Record,
        repository: Repository,
        workspace: Workspace,
        facts: RunFacts,
        verifying: _Verifying,
        after: int,
    ) -> tuple[Brief, Result]:
        """Run a verifier, with the names of everything that it can cite in its brief."""
        exhibits = verifying.exhibits
        attempt = f"{record.run.run}.{verifying.name}"
        brief = brief_for(record, verifying.subject, workspace, facts, attempt=attempt, role=verifying.role)
        brief = replace(
            brief,
            base=exhibits.base,
            changed=tuple(sorted(exhibits.changed)[:_MOST_PATHS]),
            removed=tuple(sorted(exhibits.removed)[:_MOST_PATHS]),
            shown=tuple(evidence.name for evidence in exhibits.evidence if evidence.outcome == "PASS"),
            unseen=tuple(dict.fromkeys(place for evidence in exhibits.evidence for place in evidence.unseen))[
                :_UNSEEN
            ],
            **self._given(record, brief.program.kind),
        )
        ended = self._hosts.await_end(record, brief, after=after)
        # In a sandbox, the kernel keeps the workspace unchanged.
        if ended.ending == "done" and ended.ring == "none":
            wrote = written_in(repository, workspace, exhibits.tree)
            exhibits.written = tuple(path for path in wrote if not is_cache(path))
        return brief, ended

    def _given(self, record: Record, kind: str) -> dict[str, Any]:
        """Return what an agent of a kind gets of this machine: its variables, and the results of setup."""
        results = Results(self._setups / record.run.repo / record.setup().digest).folder
        return {"environment": kept_for(self._rooms / record.run.run, kind), "results": results}


def _begun(record: Record, move: moves.Attempt) -> AttemptBegun:
    agent = record.run.options.agent_of(move.role)
    return AttemptBegun(phase=move.phase, number=move.number, role=move.role, agent=agent)


def _known(facts: RunFacts, move: moves.Attempt) -> tuple[AttemptFacts | None, int]:
    known = facts.part(move.phase).attempt(move.number)
    return known, 1 if known is None else known.starts + (known.ending in RESUMABLE)


def _again(judged: AttemptFacts) -> str:
    return str(judged.lost_verifiers + 1) if judged.lost_verifiers else ""


def _weighed(record: Record, verifying: _Verifying, ended: Result) -> Weighed:
    subject, exhibits = verifying.subject, verifying.exhibits
    opinion = _opinion(ended)
    waivers = waivers_of(record, subject.intent, range(1, len(subject.promises) + 1))
    waivers = {**exhibits.accepted(subject.intent), **waivers}
    held = exhibits.held(subject.intent, opinion)
    return weigh(subject.promises, opinion, held, exhibits.numbers, waivers=waivers)


def _opinion(ended: Result) -> Opinion | None:
    return ended.verdict and ended.verdict._replace(says=ended.says)


def _judged(record: Record, verifying: _Verifying, ended: Result, verdict: Verdict) -> TogetherJudged:
    written = verifying.exhibits.written
    return judged_of(record, verifying.name, ended, _opinion(ended), verdict, written)
