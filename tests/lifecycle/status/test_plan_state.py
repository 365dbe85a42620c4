from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.delivery.facts import Landed, Work
from asbuilt.lifecycle.status.plan_state import Landing, Standing, done_now, fold_plan
from tests.support.happened import happened

Events = list[tuple[str, dict[str, Any]]]
PROVEN: Events = [
    ("phase.proven", {"run": "r1", "phase": "1", "commit": "a"}),
    ("phase.proven", {"run": "r2", "phase": "2", "commit": "b"}),
]
DONE: Events = [
    ("landing.done", {"run": "r2", "new": "n", "commits": [["1", "r1", "a", "A"], ["2", "r2", "b", "B"]]})
]


def test_what_is_proven_waits_until_some_run_lands_it() -> None:
    standing = fold_plan(happened(PROVEN))
    assert standing.unlanded == (Work("1", "r1", "a"), Work("2", "r2", "b"))
    assert (done_now(standing, []), standing.newest_landed) == (frozenset("12"), None)
    landed = fold_plan(happened([*PROVEN, *DONE]))
    both = (Landed("1", "r1", "a", "A"), Landed("2", "r2", "b", "B"))
    assert landed == Standing(standing.proven, (Landing("r2", both),))
    assert (landed.unlanded, landed.newest_landed, landed.landed_by("r2")) == ((), "r2", both)


def test_what_is_taken_back_is_not_done_until_it_is_proven_again() -> None:
    undone: Events = [*PROVEN, *DONE, ("landing.undone", {"run": "r3", "of": "r2", "commits": ["a", "b"]})]
    standing = fold_plan(happened(undone))
    assert (done_now(standing, ["1"]), standing.unlanded, standing.newest_landed) == (frozenset(), (), None)
    again = fold_plan(happened([*undone, ("phase.proven", {"run": "r4", "phase": "1", "commit": "c"})]))
    assert (done_now(again, []), again.unlanded) == (frozenset("1"), (Work("1", "r4", "c"),))


def test_the_plans_own_marks_count_only_for_phases_that_the_journal_does_not_know() -> None:
    undone: Events = [*PROVEN, ("landing.undone", {"run": "r3", "of": "r2", "commits": ["b"]})]
    assert done_now(fold_plan(happened(undone)), ["2", "3"]) == {"1", "3"}


def test_a_mark_by_hand_counts_while_the_file_has_it_until_the_phase_is_proven_again() -> None:
    by_hand: Events = [
        *PROVEN,
        ("phase.marked", {"phase": "1", "status": "pending"}),
        ("phase.marked", {"phase": "2", "status": "pending", "item": 1}),
        ("phase.marked", {"phase": "3", "status": "done"}),
    ]
    assert done_now(fold_plan(happened(by_hand)), ["3"]) == {"2", "3"}
    assert done_now(fold_plan(happened(by_hand)), ["1"]) == {"1", "2"}
    done_and_back: Events = [*by_hand, ("phase.marked", {"phase": "1", "status": "done"})]
    assert done_now(fold_plan(happened(done_and_back)), ["1"]) == {"1", "2"}
    assert done_now(fold_plan(happened(done_and_back)), []) == {"2"}
    again = fold_plan(happened([*by_hand, ("phase.proven", {"run": "r4", "phase": "1", "commit": "c"})]))
    assert done_now(again, []) == {"1", "2"}
    undone = fold_plan(happened([*by_hand, ("landing.undone", {"run": "r4", "commits": ["a"]})]))
    assert done_now(undone, ["1", "3"]) == {"2", "3"}
    assert (again.newest, fold_plan(happened(DONE)).newest, fold_plan([]).newest) == ("r4", "r2", None)


steps = st.lists(st.tuples(st.sampled_from(["prove", "land", "undo"]), st.sampled_from("123")), max_size=30)


@given(steps)
def test_every_proof_is_unlanded_landed_or_taken_back_and_never_two_of_them(
    steps: list[tuple[str, str]],
) -> None:
    events: Events = []
    for number, (step, phase) in enumerate(steps):
        standing = fold_plan(happened(events))
        if step == "prove":
            events.append(("phase.proven", {"run": f"r{number}", "phase": phase, "commit": f"c{number}"}))
        elif step == "land":
            commits = [[*work, f"{work.commit}'"] for work in standing.unlanded]
            events.append(("landing.done", {"run": f"r{number}", "new": "n", "commits": commits}))
        elif standing.newest_landed is not None:
            gone = [one.commit for one in standing.landed_by(standing.newest_landed)]
            events.append(("landing.undone", {"run": f"r{number}", "commits": gone}))
    standing = fold_plan(happened(events))
    landed = [one.commit for landing in standing.landings for one in landing.landed]
    states = [*(work.commit for work in standing.unlanded), *landed, *standing.undone]
    assert sorted(states) == sorted(work.commit for work in standing.proven)
