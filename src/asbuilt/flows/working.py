"""Give work to agents and wait for its end. An attempt that was begun is re-attached, never begun twice."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.journal import runs
from asbuilt.lifecycle import phases
from asbuilt.ports import Brief
from asbuilt.proof.verdict import judge_items

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from asbuilt.flows.record import Record
    from asbuilt.lifecycle.facts import PhaseFacts, RunFacts
    from asbuilt.plan.model import Phase
    from asbuilt.ports import Attempts, Result, Workspace

_LOOK_S: Final = 0.1


class Working:
    """The agents of a worker."""

    def __init__(self, attempts: Attempts, awake: Callable[[], AbstractContextManager[object]]) -> None:
        self._attempts = attempts
        self._awake = awake

    def attempt(self, record: Record, workspace: Workspace, facts: RunFacts, move: phases.Attempt) -> None:
        """Let an agent work, or go on waiting for one that does."""
        attempt = f"{record.run.run}.{move.phase}.{move.number}"
        known = next((one for one in facts.phases[move.phase].attempts if one.number == move.number), None)
        start = (
            known.starts + 1 if known and known.ending == "limited" else max(1, known.starts if known else 1)
        )
        key = f"{move.phase}/{move.number}"
        record.say(
            "attempt.begun", f"{key}/begun/{start}", phase=move.phase, number=move.number, role=move.role,
            agent=record.run.options["agent"],
        )  # fmt: skip
        ended = self._await(record, self._brief(record, move, workspace, attempt=attempt, role=move.role))
        record.say(
            "attempt.ended",
            f"{key}/ended/{start}",
            phase=move.phase,
            number=move.number,
            ending=ended.ending,
            reason=ended.reason[:500],
            resets_at=ended.resets_at,
            says=ended.says[:300],
            cost_usd=ended.cost_usd,
            ring=ended.ring,
        )

    def verify(self, record: Record, workspace: Workspace, phase: PhaseFacts, number: int) -> None:
        """Let a second agent judge the kept tree in a workspace of its own that it cannot change."""
        address = f"{record.run.run}.{phase.id}.{number}v"
        move = phases.Attempt(phase.id, number, "verify")
        key = f"{phase.id}/{number}"
        record.say("verifier.begun", f"{key}/verifier", phase=phase.id, number=number)
        ended = self._await(record, self._brief(record, move, workspace, attempt=address, role="verify"))
        if ended.ending == "limited":
            record.say(
                "verifier.ended", f"{key}/limited/{ended.starts}", phase=phase.id, number=number,
                ending=ended.ending, resets_at=ended.resets_at,
            )  # fmt: skip
            return
        frozen, _ = record.frozen(phase.id)
        verdict = judge_items(items_of(frozen), ended.verdict if ended.ending == "done" else ())
        failures = [failure[:300] for failure in verdict.failures][:4]
        record.say(
            "verdict.given", f"{key}/verdict", phase=phase.id, number=number,
            outcome=verdict.outcome, failures=failures, says=ended.says[:200], cost_usd=ended.cost_usd,
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
            protected=(Path(run.plan),),
            ring_required=bool(run.options.get("ring_required", True)),
        )

    def _await(self, record: Record, brief: Brief) -> Result:
        """Start or re-attach an attempt and wait for its end, with the machine kept awake meanwhile."""
        with self._awake():
            return self._ended(record, brief)

    def _ended(self, record: Record, brief: Brief) -> Result:
        """Wait for an attempt's end; a stop that was asked for ends it."""
        self._attempts.start(brief)
        while (result := self._attempts.result(brief.attempt)) is None:
            self._attempts.beat(brief.attempt)
            run = record.run
            with record.store.read() as session:
                now = runs.find(session, run.org, run.repo, run.run)
            if now is not None and now.stop is not None:
                self._attempts.cancel(brief.attempt)
            if not self._attempts.alive(brief.attempt):
                self._attempts.start(brief)
            time.sleep(_LOOK_S)
        return result


def items_of(phase: Phase) -> tuple[str, ...]:
    """List what a phase promises: its work items, then its criteria; a verdict counts them from 1."""
    return (*(item.text for item in phase.work_items), *(criterion.text for criterion in phase.criteria))
