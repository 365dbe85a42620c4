"""Kinds of run: how each folds its events and chooses its next move. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from asbuilt.lifecycle.authoring import decide as authoring
from asbuilt.lifecycle.authoring.facts import AuthoringFacts
from asbuilt.lifecycle.authoring.fold import fold_authoring
from asbuilt.lifecycle.landing import decide as landing
from asbuilt.lifecycle.landing.facts import LandingFacts, fold_landing
from asbuilt.lifecycle.plan_run import decide as plan_run
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.plan_run.fold import fold_plan_run
from asbuilt.lifecycle.run.decide import paced
from asbuilt.lifecycle.run.moves import End, Move
from asbuilt.lifecycle.tasks import decide as tasks
from asbuilt.lifecycle.tasks.decide import fold_task
from asbuilt.lifecycle.tasks.facts import TaskRunFacts
from asbuilt.lifecycle.undo import decide as undo
from asbuilt.lifecycle.undo.facts import UndoFacts, fold_undo
from asbuilt.lifecycle.verification import decide as verification
from asbuilt.lifecycle.verification.facts import VerificationFacts, fold_verification

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunOptions

Facts = PlanFacts | LandingFacts | UndoFacts | VerificationFacts | AuthoringFacts | TaskRunFacts


def fold(run: str, options: RunOptions, entries: Iterable[Entry]) -> Facts:
    """Fold the events of one run, in order; events of other kinds are ignored."""
    match options.kind:
        case "run":
            return fold_plan_run(run, options, entries)
        case "land":
            return fold_landing(run, options, entries)
        case "undo":
            return fold_undo(run, options, entries)
        case "verify":
            return fold_verification(run, options, entries)
        case "author":
            return fold_authoring(run, options, entries)
        case "task":
            return fold_task(run, options, entries)
        case _:
            assert_never(options.kind)


def next_move(facts: Facts, now: str) -> Move:
    """Choose a run's next move; a paused run waits before the next move that can wait."""
    move = End(facts.ended, "") if facts.ended is not None else _choose(facts, now)
    return paced(facts, move, now)


def _choose(facts: Facts, now: str) -> Move:
    match facts:
        case PlanFacts():
            return plan_run.next_move(facts, now)
        case LandingFacts():
            return landing.next_move(facts, now)
        case UndoFacts():
            return undo.next_move(facts, now)
        case VerificationFacts():
            return verification.next_move(facts, now)
        case AuthoringFacts():
            return authoring.next_move(facts, now)
        case TaskRunFacts():
            return tasks.next_move(facts, now)
        case _:
            assert_never(facts)
