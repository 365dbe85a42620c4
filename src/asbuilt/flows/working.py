"""Give work to agents and wait for its end. An attempt that was begun is re-attached, never begun twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.flows.outcomes import attempt_of, take
from asbuilt.journal import runs
from asbuilt.lifecycle import phases
from asbuilt.lifecycle.facts import GOES_ON
from asbuilt.ports import Brief, Result
from asbuilt.proof.verdict import judge_items

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from asbuilt.flows.lease import Lease
    from asbuilt.flows.record import Record
    from asbuilt.flows.tidings import Tidings
    from asbuilt.lifecycle.facts import PhaseFacts, RunFacts
    from asbuilt.plan.model import Phase
    from asbuilt.ports import Attempts, Workspace

_LOOK_S: Final = 0.05
_LOOK_AT_MOST_S: Final = 1.0
"""Whoever has worked for long is looked at less often: a thousand that work must not cost a core."""
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

    def attempt(self, record: Record, workspace: Workspace, facts: RunFacts, move: phases.Attempt) -> None:
        """Let an agent work, or go on waiting for one that does."""
        attempt = f"{record.run.run}.{move.phase}.{move.number}"
        known = next((one for one in facts.phases[move.phase].attempts if one.number == move.number), None)
        start = 1 if known is None else known.starts + (known.ending in GOES_ON)
        key = f"{move.phase}/{move.number}"
        record.say(
            "attempt.begun", f"{key}/begun/{start}", phase=move.phase, number=move.number, role=move.role,
            agent=record.run.options["agent"],
        )  # fmt: skip
        brief = self._brief(record, move, workspace, attempt=attempt, role=move.role)
        after = 0 if known is None else known.ended_start
        if not self._is_there(attempt, after):
            take(record, workspace, facts, attempt)
        ended = self._await(record, brief, after=after)
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
        )

    def verify(self, record: Record, workspace: Workspace, phase: PhaseFacts, number: int) -> None:
        """Let a second agent judge the kept tree in a workspace of its own that it cannot change."""
        judged = attempt_of(phase, number)
        name = f"{number}v{judged.lost_verifiers + 1 if judged.lost_verifiers else ''}"
        move = phases.Attempt(phase.id, number, "verify")
        brief = self._brief(
            record, move, workspace, attempt=f"{record.run.run}.{phase.id}.{name}", role="verify"
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
        key = f"{phase.id}/{number}"
        frozen, _ = record.frozen(phase.id)
        verdict = judge_items(items_of(frozen), ended.verdict)
        failures = [failure[:300] for failure in verdict.failures][:4]
        record.say(
            "verdict.given", f"{key}/verdict", phase=phase.id, number=number,
            outcome=verdict.outcome, failures=failures, says=ended.says[:200],
            attempt=f"{phase.id}.{name}", cost_usd=ended.cost_usd,
            items=record.blobs.put(json.dumps(verdict.items).encode()),
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
    """List what a phase promises: its work items, then its criteria; a verdict counts them from 1."""
    return (*(item.text for item in phase.work_items), *(criterion.text for criterion in phase.criteria))
