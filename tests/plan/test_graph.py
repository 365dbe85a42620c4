from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.plan.graph import cycle, next_phase, waves
from asbuilt.plan.model import Status

IDS = ("1", "2", "3", "4a", "4b", "5")


ALL_BEFORE = -1


def graph_of(masks: list[int]) -> dict[str, tuple[str, ...]]:
    """Phases that wait for some others, for all before them, or for one that does not exist."""
    ids = IDS[: len(masks)]
    return {
        phase_id: ids[:at]
        if mask == ALL_BEFORE
        else tuple(need for bit, need in enumerate((*IDS, "9")) if mask >> bit & 1)
        for at, (phase_id, mask) in enumerate(zip(ids, masks, strict=True))
    }


def graphs() -> st.SearchStrategy[dict[str, tuple[str, ...]]]:
    """One number for each phase: the set of those it waits for."""
    few = st.sampled_from([ALL_BEFORE, *(mask for mask in range(128) if mask.bit_count() < 3)])
    return st.lists(few, max_size=len(IDS)).map(graph_of)


def reached(needs: dict[str, tuple[str, ...]], start: str) -> set[str]:
    """Return everything that a phase waits for, however indirectly."""
    seen: set[str] = set()
    todo = list(needs[start])
    while todo:
        need = todo.pop()
        if need in needs and need not in seen:
            seen.add(need)
            todo += needs[need]
    return seen


@given(graphs())
def test_a_phase_is_in_the_first_wave_after_all_that_it_waits_for(needs: dict[str, tuple[str, ...]]) -> None:
    found = waves(needs)
    place = {phase_id: at for at, wave in enumerate(found) for phase_id in wave}
    expected = {
        phase_id: max(
            (place.get(need, len(needs)) + 1 for need in needs[phase_id] if need in needs), default=0
        )
        for phase_id in place
    }
    assert place == expected
    order = list(needs)
    assert [list(wave) for wave in found] == [sorted(wave, key=order.index) for wave in found]


@given(graphs())
def test_a_phase_is_in_no_wave_exactly_when_it_is_in_a_cycle_or_behind_one(
    needs: dict[str, tuple[str, ...]],
) -> None:
    settled = {phase_id for wave in waves(needs) for phase_id in wave}
    circular = {phase_id for phase_id in needs if phase_id in reached(needs, phase_id)}
    stuck = {phase_id for phase_id in needs if (reached(needs, phase_id) | {phase_id}) & circular}
    assert set(needs) - settled == stuck


@given(graphs())
def test_a_cycle_is_one_and_is_told_whenever_there_is_any(needs: dict[str, tuple[str, ...]]) -> None:
    circle = cycle(needs)
    for phase_id, need in zip(circle, (*circle[1:], *circle[:1]), strict=True):
        assert need in needs[phase_id]
    assert len(set(circle)) == len(circle)
    assert bool(circle) == any(phase_id in reached(needs, phase_id) for phase_id in needs)


@given(graphs(), st.lists(st.sampled_from(list(Status)), min_size=len(IDS), max_size=len(IDS)))
def test_the_next_phase_is_ready_and_a_begun_one_comes_first(
    needs: dict[str, tuple[str, ...]], marks: list[Status]
) -> None:
    statuses = dict(zip(needs, marks, strict=False))
    ready = [
        phase_id
        for phase_id in needs
        if statuses[phase_id] not in {Status.DONE, Status.BLOCKED}
        and all(statuses.get(need) is Status.DONE for need in needs[phase_id])
    ]
    begun = [phase_id for phase_id in ready if statuses[phase_id] is Status.IN_PROGRESS]
    assert next_phase(statuses, needs) == next(iter([*begun, *ready]), None)


def test_phases_that_say_nothing_follow_one_another() -> None:
    ids = tuple(str(number) for number in range(200))
    needs = {phase_id: ids[:at] for at, phase_id in enumerate(ids)}
    assert waves(needs) == tuple((phase_id,) for phase_id in ids)
