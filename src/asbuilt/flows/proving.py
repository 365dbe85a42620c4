"""Perform the moves of every run that proves something: start, tests, setup, baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.flows.checks import preflight
from asbuilt.flows.run_start import start
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.proving import ProvingFacts

if TYPE_CHECKING:
    from asbuilt.flows.context import Context


def perform(context: Context, facts: ProvingFacts, move: moves.Move, *, pushed: str | None = None) -> None:
    """Perform one move; `pushed` is the target's tip at the forge, for a run that lands there."""
    record, repository = context.record, context.repository
    match move:
        case moves.Start():
            start(context, pushed=pushed)
        case moves.ResolveTests():
            preflight.resolve_tests(record, repository, context.proving(facts).base)
        case moves.SetUp():
            proving = context.proving(facts)
            preflight.set_up(record, repository, proving, proving.base)
        case moves.Baseline():
            preflight.run_baseline(record, context.proving(facts), facts)
        case _:
            raise ValueError(move)
