"""Kinds of run: how each folds its events and chooses its next move. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from asbuilt.lifecycle.authoring import decide as authoring
from asbuilt.lifecycle.authoring.facts import AuthoringFacts
from asbuilt.lifecycle.authoring.fold import begin_authoring, hear_authoring
from asbuilt.lifecycle.delivery.fold import hear_delivery
from asbuilt.lifecycle.landing import decide as landing
from asbuilt.lifecycle.landing.facts import LandingFacts, begin_landing
from asbuilt.lifecycle.plan_run import decide as plan_run
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.plan_run.fold import begin_plan_run, hear_plan_run
from asbuilt.lifecycle.plan_run.lanes import closing
from asbuilt.lifecycle.run.decide import admitted, paced
from asbuilt.lifecycle.run.fold import fold_run
from asbuilt.lifecycle.run.moves import End, Move
from asbuilt.lifecycle.tasks import decide as tasks
from asbuilt.lifecycle.tasks.decide import begin_task, hear_task
from asbuilt.lifecycle.tasks.facts import TaskRunFacts
from asbuilt.lifecycle.undo import decide as undo
from asbuilt.lifecycle.undo.facts import UndoFacts, begin_undo, hear_undo
from asbuilt.lifecycle.verification import decide as verification
from asbuilt.lifecycle.verification.facts import VerificationFacts, begin_verification, hear_verification

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Entry
    from asbuilt.events.options import RunOptions

Facts = PlanFacts | LandingFacts | UndoFacts | VerificationFacts | AuthoringFacts | TaskRunFacts


def fold(run: str, options: RunOptions, entries: Iterable[Entry]) -> Facts:
    """Fold the events of one run, in order; events of other kinds are ignored."""
    facts = begin(run, options)
    hear(facts, entries)
    return facts


def begin(run: str, options: RunOptions) -> Facts:
    """Return the facts of a run before its first event."""
    match options.kind:
        case "run":
            return begin_plan_run(run, options)
        case "land":
            return begin_landing(run, options)
        case "undo":
            return begin_undo(run, options)
        case "verify":
            return begin_verification(run, options)
        case "author":
            return begin_authoring(run, options)
        case "task":
            return begin_task(run, options)
        case _:
            assert_never(options.kind)


def hear(facts: Facts, entries: Iterable[Entry]) -> None:
    """Fold further events into the facts of a run, in order."""
    match facts:
        case PlanFacts():
            fold_run(facts, entries, hear_plan_run)
        case LandingFacts():
            fold_run(facts, entries, lambda facts, entry: hear_delivery(facts, entry.event))
        case UndoFacts():
            fold_run(facts, entries, hear_undo)
        case VerificationFacts():
            fold_run(facts, entries, hear_verification)
        case AuthoringFacts():
            fold_run(facts, entries, hear_authoring)
        case TaskRunFacts():
            fold_run(facts, entries, hear_task)
        case _:
            assert_never(facts)


def next_move(facts: Facts, now: str) -> Move:
    """Choose the next move of a run, or of a lane; a paused one waits before the next move that can wait.

    An agent whose account's breaker is open is not started.
    """
    move = End(facts.ended, "") if facts.ended is not None else _choose(facts, now)
    move = closing(facts, move) if isinstance(facts, PlanFacts) and facts.at else move
    return paced(facts, admitted(facts, move, now), now)


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
