"""What people are told of a run is what the run will do: both come from the same next move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle import phases
from asbuilt.lifecycle.phases import current, next_move
from asbuilt.lifecycle.progress import progress, waits_for
from tests.lifecycle.test_phases import World, options, whole_runs

if TYPE_CHECKING:
    from typing import Any

_WORKING = {"implementing", "fixing", "checking", "verifying", "parked"}


@whole_runs
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
        now = current(facts)
        assert working in ([], [now.id] if now else [])
        assert [phase.id for phase in told] == list(facts.phases)
        for phase in told:
            is_proven = facts.phases[phase.id].proven is not None
            assert (phase.state in ("proven", "landed")) == is_proven == (phase.commit is not None)


@whole_runs
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
        asks = isinstance(move, phases.Wait) and move.until is None
        assert (told.kind == "person") == asks
        assert (told.kind == "nobody") == isinstance(move, phases.End)
        assert (told.kind == "agent") == isinstance(move, phases.Attempt)
        assert told.until == (move.until if isinstance(move, phases.Wait) else None)
