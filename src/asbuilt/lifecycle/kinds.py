"""Kinds of run: how each folds its events and chooses its next move. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, assert_never, get_args

from asbuilt.events.event import Entry
from asbuilt.events.options import RunKind, RunOptions
from asbuilt.lifecycle import land_run, undo, verify_run
from asbuilt.lifecycle.authoring import next_move as authoring
from asbuilt.lifecycle.authoring.facts import AuthoringFacts
from asbuilt.lifecycle.land_run import LandingFacts
from asbuilt.lifecycle.plan_run import next_move as plan_run
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.plan_run.lanes import closing
from asbuilt.lifecycle.run.fold import fold_entries
from asbuilt.lifecycle.run.guards import admitted, paced
from asbuilt.lifecycle.run.moves import End, Move
from asbuilt.lifecycle.tasks import next_move as tasks
from asbuilt.lifecycle.tasks.facts import TaskRunFacts
from asbuilt.lifecycle.undo import UndoFacts
from asbuilt.lifecycle.verify_run import VerificationFacts

Facts = PlanFacts | LandingFacts | UndoFacts | VerificationFacts | AuthoringFacts | TaskRunFacts
_FACTS: Final[Mapping[RunKind, type[Facts]]] = {kind.kind: kind for kind in get_args(Facts)}


def fold(run: str, options: RunOptions, entries: Iterable[Entry]) -> Facts:
    """Fold the events of one run, in order; events of other kinds are ignored."""
    facts = begin(run, options)
    fold_entries(facts, entries)
    return facts


def begin(run: str, options: RunOptions) -> Facts:
    """Return the facts of a run before its first event."""
    facts = _FACTS[options.kind](run)
    facts.take(options)
    return facts


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
            return land_run.next_move(facts, now)
        case UndoFacts():
            return undo.next_move(facts, now)
        case VerificationFacts():
            return verify_run.next_move(facts, now)
        case AuthoringFacts():
            return authoring.next_move(facts, now)
        case TaskRunFacts():
            return tasks.next_move(facts, now)
        case _:
            assert_never(facts)
