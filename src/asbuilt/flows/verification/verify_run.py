"""Perform the moves of a run that proves completed phases again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.phases import PhaseRechecked
from asbuilt.flows import proving
from asbuilt.flows.checks.outcomes import failures_of, outcome_of
from asbuilt.flows.run.plan_file import Document
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.verify_run import VerificationFacts
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.context import Context


def perform(context: Context, facts: VerificationFacts, move: moves.Move) -> None:
    """Perform one move."""
    match move:
        case moves.Recheck(phase=phase):
            _recheck(context, facts, phase)
        case _:
            proving.perform(context, facts, move)


def _recheck(context: Context, facts: VerificationFacts, phase_id: str) -> None:
    """Prove a phase again, by the plan's current text, on the tree that the run started with."""
    record, checks = context.record, context.proving(facts)
    phase = the_phase(read(Document(record, context.repository).read()), phase_id)
    shown = checks.prove(checks.base, [check.command for check in phase.checks])
    outcome, failures, kept = outcome_of(shown), tuple(failures_of(shown)), record.keep(shown)
    event = PhaseRechecked(phase=phase_id, outcome=outcome, failures=failures, evidence=kept)
    record.append(event, f"{phase_id}/rechecked")
