"""How far a plan is after all its runs: of a done phase the journal's last word, of work the run's own."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.status.plan_state import Standing, fold_plan
from asbuilt.lifecycle.status.run_state import DONE, IN_WORK, PhaseProgress, State, plan_progress
from tests.support.happened import happened

Events = list[tuple[str, dict[str, Any]]]
PROVEN: Events = [
    ("phase.proven", {"run": "r1", "phase": "1", "commit": "a"}),
    ("phase.proven", {"run": "r1", "phase": "2", "commit": "b"}),
]
LANDED: Events = [
    ("landing.done", {"run": "r1", "new": "n", "commits": [["1", "r1", "a", "A"], ["2", "r1", "b", "B"]]})
]
UNDONE: Events = [("landing.undone", {"run": "r2", "of": "r1", "commits": ["a", "b"]})]
AT = {"a": "at a", "b": "at b"}


def _phase(id_: str, state: State, *needs: str) -> PhaseProgress:
    return PhaseProgress(id_, f"Phase {id_}", state, "", needs=needs, needs_all=needs)


def _states(
    run: list[PhaseProgress], events: Events, *, is_over: bool = True, marked: list[str] | None = None
) -> list[tuple[object, ...]]:
    told = plan_progress(run, fold_plan(happened(events)), AT, is_over=is_over, marked=marked)
    return [(phase.id, phase.state, phase.commit, phase.since, phase.needs) for phase in told]


def test_what_an_earlier_run_landed_is_landed_in_the_newest_runs_outline() -> None:
    run = [_phase("1", "done"), _phase("2", "done"), _phase("3", "implementing", "1")]
    assert _states(run, PROVEN + LANDED, is_over=False) == [
        ("1", "landed", "A", "at a", ()),
        ("2", "landed", "B", "at b", ()),
        ("3", "implementing", None, "", ("1",)),
    ]


def test_what_is_proven_and_not_landed_is_proven() -> None:
    assert _states([_phase("1", "done")], PROVEN) == [("1", "proven", "a", "at a", ())]


def test_what_was_undone_is_open_again_and_what_needs_it_waits() -> None:
    run = [_phase("1", "done"), _phase("2", "done", "1")]
    assert _states(run, PROVEN + LANDED + UNDONE) == [
        ("1", "ready", None, "", ()),
        ("2", "pending", None, "", ("1",)),
    ]


def test_a_mark_by_hand_counts_until_the_phase_is_proven_again() -> None:
    marks: Events = [
        ("phase.marked", {"phase": "1", "status": "pending"}),
        ("phase.marked", {"phase": "3", "status": "done"}),
    ]
    run = [_phase("1", "landed"), _phase("3", "ready")]
    assert _states(run, PROVEN + LANDED + marks) == [
        ("1", "ready", None, "", ()),
        ("3", "done", None, "", ()),
    ]
    assert _states(run, PROVEN + LANDED + marks, marked=["1"]) == [
        ("1", "landed", "A", "at a", ()),
        ("3", "ready", None, "", ()),
    ]


def test_a_failure_of_the_newest_run_stays_in_sight_until_the_phase_is_done() -> None:
    failed = [_phase("1", "failed")]
    assert _states(failed, []) == [("1", "failed", None, "", ())]
    assert _states(failed, PROVEN) == [("1", "proven", "a", "at a", ())]


def test_a_run_that_is_over_has_nothing_in_work() -> None:
    assert _states([_phase("1", "implementing")], []) == [("1", "ready", None, "", ())]


@given(
    st.lists(st.sampled_from(["pending", "ready", "implementing", "parked", "proven", "done", "failed"])),
    st.lists(st.sampled_from(["1", "2", "3"])),
    st.booleans(),
)
def test_a_phase_is_done_exactly_when_the_journal_says_so(
    states: list[State],
    proven: list[str],
    is_over: bool,  # noqa: FBT001 - drawn
) -> None:
    run = [_phase(str(number), state) for number, state in enumerate(states, 1)]
    events: Events = [
        ("phase.proven", {"run": "r", "phase": phase, "commit": f"{at}"}) for at, phase in enumerate(proven)
    ]
    standing: Standing = fold_plan(happened(events))
    for before, after in zip(run, plan_progress(run, standing, {}, is_over=is_over), strict=True):
        in_work = before.state in IN_WORK and not is_over
        knows = standing.proofs.get(before.id, before.state == "done")
        assert (after.state in DONE) == (knows and not in_work)
