"""What people are told of a run is what the run will do: both come from the same next move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.options import RunOptions
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.status.run_state import progress, waits_for
from tests.lifecycle.plan_run.test_next_move import World, options
from tests.support.happened import happened

if TYPE_CHECKING:
    from typing import Any

_WORKING = {"implementing", "fixing", "checking", "verifying", "parked"}


@given(options, st.data())
def test_at_every_moment_at_most_one_phase_is_worked_on_and_it_is_the_right_one(
    chosen: dict[str, Any], answers: st.DataObject
) -> None:
    world = World(chosen, answers)
    world.live()
    events, world.events = world.events, []
    for event in [None, *events]:
        if event is not None:
            world.events.append(event)
        facts = world.facts()
        told = progress(facts, world.now)
        working = [phase.id for phase in told if phase.state in _WORKING]
        now = facts.current
        assert working in ([], [now.id] if now else [])
        assert [phase.id for phase in told] == list(facts.phases)
        for phase in told:
            is_proven = facts.phases[phase.id].proven is not None
            assert (phase.state in ("proven", "landed")) == is_proven == (phase.commit is not None)


@given(options, st.data())
def test_a_run_waits_for_a_person_exactly_when_its_next_move_does(
    chosen: dict[str, Any], answers: st.DataObject
) -> None:
    world = World(chosen, answers)
    world.live()
    events, world.events = world.events, []
    for event in events:
        world.events.append(event)
        facts = world.facts()
        move, told = next_move(facts, world.now), waits_for(facts, world.now)
        asks = isinstance(move, moves.Wait) and move.until is None
        assert (told.kind == "person") == asks
        assert (told.kind == "nobody") == isinstance(move, moves.End)
        assert (told.kind == "agent") == isinstance(move, moves.Attempt)
        assert told.until == (move.until if isinstance(move, moves.Wait) else None)


NOTED = ("plan.noted", {"note": "Redis 6 is what we run", "by": "ann"})
AGAIN = ("plan.noted", {"note": "no functions", "by": "ann"})


def _begun(run: str, number: int, notes: int = 0) -> tuple[str, dict[str, Any]]:
    return "attempt.begun", {"run": run, "phase": "1", "number": number, "role": "implement", "notes": notes}


def test_a_note_goes_to_the_next_attempt_and_to_no_other() -> None:
    started = ("run.started", {"run": "r2", "base": "b", "phases": {"1": []}})
    facts = fold("r2", RunOptions(), happened([NOTED, started, AGAIN]))
    assert facts.pending_notes == ["Redis 6 is what we run", "no functions"]
    facts = fold("r2", RunOptions(), happened([NOTED, started, _begun("r2", 1, 1), AGAIN]))
    assert (facts.phases["1"].attempts[0].notes, facts.pending_notes) == (
        ("Redis 6 is what we run",),
        ["no functions"],
    )
    events = [NOTED, _begun("r1", 1, 1), started, AGAIN, _begun("r2", 1, 1), _begun("r2", 2)]
    facts = fold("r2", RunOptions(), happened(events))
    assert [one.notes for one in facts.phases["1"].attempts] == [("no functions",), ()]


def test_a_note_that_comes_while_an_attempt_begins_is_not_lost() -> None:
    started = ("run.started", {"run": "r2", "base": "b", "phases": {"1": []}})
    facts = fold("r2", RunOptions(), happened([NOTED, started, AGAIN, _begun("r2", 1, 1)]))
    assert facts.pending_notes == ["no functions"]
