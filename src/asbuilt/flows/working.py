"""Give work to agents and wait for its end. An attempt that was begun is re-attached, never begun twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.flows.judging import Exhibits
from asbuilt.flows.outcomes import attempt_of, take
from asbuilt.flows.waivers import promises_of, waivers_of
from asbuilt.git.workspaces import written_in
from asbuilt.journal import runs
from asbuilt.lifecycle import phases
from asbuilt.lifecycle.facts import GOES_ON
from asbuilt.ports import Brief, Result
from asbuilt.proof.opinion import plain_opinion
from asbuilt.proof.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from asbuilt.flows.lease import Lease
    from asbuilt.flows.record import Record
    from asbuilt.flows.surroundings import Surroundings
    from asbuilt.flows.tidings import Tidings
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.facts import PhaseFacts, RunFacts
    from asbuilt.plan.model import Phase
    from asbuilt.ports import Attempts, Workspace

_LOOK_S: Final = 0.1
_LOOK_AT_MOST_S: Final = 1.0
"""Whoever has worked for long is looked at less often: a thousand that work must not cost a core."""
_TOLD: Final = 500
"""Files that a verifier is told by name; the difference itself is in its workspace."""
_WAIVABLE: Final = 10
"""Unmet items that a person is asked about; a phase that lacks more is not nearly done."""
_NAMED: Final = 5
"""Files that a verifier wrote and that are told by name."""
_STARTS: Final = 5
"""Hosts that an attempt may lose: one that dies each time would cost an agent's work for ever."""


class Working:
    """The agents of a worker."""

    def __init__(
        self,
        attempts: Attempts,
        awake: Callable[[], AbstractContextManager[object]],
        tidings: Tidings,
        lease: Lease | None,
    ) -> None:
        self._attempts = attempts
        self._awake = awake
        self._tidings = tidings
        self._lease = lease

    def attempt(
        self,
        record: Record,
        workspace: Workspace,
        facts: RunFacts,
        move: phases.Attempt,
        around: Surroundings | None = None,
    ) -> None:
        """Let an agent work, or go on waiting for one that does; what is `around` is compared afterwards."""
        attempt = f"{record.run.run}.{move.phase}.{move.number}"
        known = next((one for one in facts.phases[move.phase].attempts if one.number == move.number), None)
        start = 1 if known is None else known.starts + (known.ending in GOES_ON)
        key = f"{move.phase}/{move.number}"
        record.say(
            "attempt.begun", f"{key}/begun/{start}", phase=move.phase, number=move.number, role=move.role,
            agent=record.run.options["agent"], before=around.keep() if around else None,
        )  # fmt: skip
        brief = self._brief(record, move, workspace, attempt=attempt, role=move.role)
        after = 0 if known is None else known.ended_start
        if not self._is_there(attempt, after):
            take(record, workspace, facts, attempt)
        ended = self._await(record, brief, after=after)
        outside = around.keep_strayed(move.phase) if around and ended.ring == "none" else None
        record.say(
            "attempt.ended",
            f"{key}/ended/{start}",
            phase=move.phase,
            number=move.number,
            ending=ended.ending,
            reason=ended.reason[:500],
            resets_at=record.reopens_at(ended),
            starts=ended.starts,
            says=ended.says[:300],
            attempt=f"{move.phase}.{move.number}",
            cost_usd=ended.cost_usd,
            ring=ended.ring,
            **({"outside": outside} if outside else {}),
        )

    def verify(
        self, record: Record, repository: Repository, workspace: Workspace, phase: PhaseFacts, number: int
    ) -> None:
        """Let a second agent judge the kept tree in a workspace of its own that it cannot change."""
        exhibits = Exhibits(record, repository, phase, number)
        judged = attempt_of(phase, number)
        name = f"{number}v{judged.lost_verifiers + 1 if judged.lost_verifiers else ''}"
        move = phases.Attempt(phase.id, number, "verify")
        brief = self._brief(
            record, move, workspace, attempt=f"{record.run.run}.{phase.id}.{name}", role="verify"
        )
        brief = replace(
            brief,
            base=exhibits.base,
            changed=tuple(sorted(exhibits.changed)[:_TOLD]),
            removed=tuple(sorted(exhibits.removed)[:_TOLD]),
            shown=tuple(one.name for one in exhibits.evidence if one.outcome == "PASS"),
        )
        record.say("verifier.begun", f"{phase.id}/{name}/begun", phase=phase.id, number=number)
        ended = self._await(record, brief, after=judged.verifier_ended_start)
        if ended.ending != "done":
            record.say(
                "verifier.ended", f"{phase.id}/{name}/ended/{ended.starts}", phase=phase.id, number=number,
                ending=ended.ending, reason=ended.reason[:500], resets_at=record.reopens_at(ended),
                starts=ended.starts, attempt=f"{phase.id}.{name}", cost_usd=ended.cost_usd,
            )  # fmt: skip
            return
        # Where a ring holds, the kernel has kept its workspace as it was.
        if ended.ring == "none":
            exhibits.written = tuple(written_in(repository, workspace, judged.tree or ""))
        self._judge(record, exhibits, phase.id, number, name=name, ended=ended)

    def _judge(
        self, record: Record, exhibits: Exhibits, phase: str, number: int, *, name: str, ended: Result
    ) -> None:
        """Look up what a verifier says in what we hold, and write down what is left of it."""
        frozen, _ = record.frozen(phase)
        opinion = ended.verdict and ended.verdict._replace(says=ended.says)
        held = exhibits.held(frozen.intent, opinion)
        promises = promises_of(frozen)
        waivers = waivers_of(record, frozen.intent, range(1, len(promises) + 1))
        verdict = judge(promises, opinion, held, waivers=waivers)
        kept = None if opinion is None else record.blobs.put(json.dumps(plain_opinion(opinion)).encode())
        record.say(
            "verdict.given", f"{phase}/{number}/verdict", phase=phase, number=number,
            outcome=verdict.outcome, failures=[failure[:300] for failure in verdict.failures][:4],
            says=ended.says[:200], attempt=f"{phase}.{name}", cost_usd=ended.cost_usd,
            unproven=verdict.unproven if len(verdict.unproven) <= _WAIVABLE else (), opinion=kept,
            items=record.blobs.put(json.dumps(verdict.items).encode()),
            **({"written": held.written[:_NAMED]} if held.written else {}),
        )  # fmt: skip

    def _brief(
        self, record: Record, move: phases.Attempt, workspace: Workspace, *, attempt: str, role: str
    ) -> Brief:
        run = record.run
        phase, text = record.frozen(move.phase)
        script = run.options.get("script")
        return Brief(
            attempt=attempt,
            role=role,  # type: ignore[arg-type]  # one of the three words, from a move
            agent=run.options["agent"],
            workspace=workspace.path,
            writable=role != "verify",
            phase=phase.id,
            title=phase.title,
            text=text,
            intent=phase.intent,
            items=items_of(phase),
            tests=record.tests(),
            failures=move.failures,
            script=Path(script) if script else None,
            protected=(Path(run.plan),) if run.is_in_repository else (),
            # A run that began in a ring is held to the end; one that began without was agreed to.
            ring_required=record.told("started").get("ring") != "none",
        )

    def _is_there(self, attempt: str, after: int) -> bool:
        """Tell whether an agent works on it, or has come to an end that nobody has heard of."""
        result = self._attempts.result(attempt)
        return self._attempts.alive(attempt) or (result is not None and result.starts > after)

    def _await(self, record: Record, brief: Brief, *, after: int) -> Result:
        """Start or re-attach an attempt and wait for its end, with the machine kept awake meanwhile."""
        if _is_stopped(record) and not self._is_there(brief.attempt, after):
            starts = self._attempts.starts(brief.attempt)
            return Result(ending="cancelled", reason="Stopped before an agent was there.", starts=starts)
        with self._awake():
            return self._ended(record, brief, after=after)

    def _ended(self, record: Record, brief: Brief, *, after: int) -> Result:
        """Wait for an attempt's end; a stop that was asked for ends it.

        Its host hears of every accepted beat of this worker, and of nothing else: without one it ends the
        agent before another worker may start one.
        """
        self._start(record, brief, after)
        look_s, heard = _LOOK_S, 0
        while (result := self._attempts.result(brief.attempt)) is None:
            if self._lease is None or self._lease.sign != heard:
                heard = self._lease.sign if self._lease else 0
                self._attempts.beat(brief.attempt)
            if self._tidings.is_stopped(record.run.run):
                self._attempts.cancel(brief.attempt)
            if self._tidings.is_lost(record.workflow):
                record.hold()
            if not self._attempts.alive(brief.attempt):
                starts = self._attempts.starts(brief.attempt)
                if starts - after >= _STARTS and self._attempts.result(brief.attempt) is None:
                    return Result(
                        ending="crashed",
                        reason=f"Its host was lost {starts - after} times before the agent came to an end.",
                        starts=starts,
                    )
                self._start(record, brief, after)
            self._tidings.wait(look_s)
            look_s = min(look_s * 1.1, _LOOK_AT_MOST_S)
        return result

    def _start(self, record: Record, brief: Brief, after: int) -> None:
        """Start or re-attach it, unless another worker has gone on: one that wakes has a new lease soon."""
        if self._lease is not None:
            if not self._lease.is_good:
                self._lease.beat()
            record.hold()
        self._attempts.start(brief, after=after)


def _is_stopped(record: Record) -> bool:
    run = record.run
    with record.store.read() as session:
        now = runs.find(session, run.org, run.repo, run.run)
    return now is not None and now.stop is not None


def items_of(phase: Phase) -> tuple[str, ...]:
    """List what a phase promises, as a verdict counts it: from 1."""
    return tuple(promise.text for promise in promises_of(phase))
