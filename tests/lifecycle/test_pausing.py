from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.options import RunOptions
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.moves import End, Move, Wait
from asbuilt.lifecycle.status.run_state import WaitsFor, progress, waits_for
from tests.lifecycle.plan_run.test_next_move import LATER, NOW, RESOLVED, RUN, World, options
from tests.support.happened import happened

BEGUN: list[tuple[str, dict[str, Any]]] = [
    ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
    ("tests.resolved", {"run": RUN, **RESOLVED["given"]}),
    ("workspace.made", {"run": RUN}),
    ("setup.done", {"run": RUN, "outcome": "PASS"}),
    ("baseline.done", {"run": RUN, "outcome": "PASS"}),
    ("phase.begun", {"run": RUN, "phase": "1"}),
    ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
]
PAUSE = ("run.pause_asked", {"run": RUN, "reason": "lunch", "at": NOW})
RESUME = ("run.resume_asked", {"run": RUN})


def _after(*more: tuple[str, dict[str, Any]]) -> Move:
    return next_move(fold(RUN, RunOptions(auto=True), happened([*BEGUN, *more])), NOW)


def _ended(ending: str) -> tuple[str, dict[str, Any]]:
    return "attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": ending, "resets_at": LATER}


KEPT = ("tree.kept", {"run": RUN, "phase": "1", "number": 1, "commit": "c", "tree": "t", "changed": True})


@given(options, st.data(), st.integers(0, 80))
def test_wherever_a_run_is_paused_it_begins_nothing_new_and_goes_on_to_its_end(
    options: dict[str, Any], answers: st.DataObject, before: int
) -> None:
    world = World(options, answers)
    for _ in range(before):
        move = next_move(world.facts(), world.now)
        if isinstance(move, End):
            return
        world.perform(move)
    world.events += happened([PAUSE])
    while (move := next_move(world.facts(), world.now)) != Wait(WaitReason.PAUSE, "paused", None):
        if isinstance(move, End):
            return
        assert isinstance(move, moves.Keep | moves.Mark | moves.Tidy)
        world.perform(move)
    world.events += happened([RESUME])
    assert world.live().state


def test_the_attempt_under_way_is_brought_to_its_end_and_kept_first() -> None:
    under_way = moves.Attempt("1", 1, "implement")
    assert [
        _after(PAUSE),
        _after(PAUSE, _ended("done")),
        _after(PAUSE, _ended("done"), KEPT),
        _after(PAUSE, _ended("done"), KEPT, RESUME),
    ] == [under_way, moves.Keep("1", 1), Wait(WaitReason.PAUSE, "paused", None), moves.Check("1", 1)]


def test_a_landing_that_was_begun_is_brought_to_its_end_first() -> None:
    done = [_ended("done"), KEPT]
    done += [
        (kind, {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"})
        for kind in ("checks.done", "verdict.given")
    ]
    done += [
        ("phase.proven", {"run": RUN, "phase": "1", "commit": "c1"}),
        ("together.done", {"run": RUN, "outcome": "PASS"}),
        ("report.written", {"run": RUN, "report": "d"}),
    ]
    intended = ("landing.intended", {"run": RUN, "old": "o", "new": "c1"})
    landed = ("landing.done", {"run": RUN, "new": "c1", "commits": [["1", RUN, "c1", "c1"]]})
    told = [_after(*done, PAUSE), _after(*done, intended, PAUSE), _after(*done, intended, landed, PAUSE)]
    assert list(map(repr, told)) == [
        repr(Wait(WaitReason.PAUSE, "paused", None)),
        repr(moves.Land()),
        repr(moves.Mark()),
    ]


def test_a_stop_ends_a_run_that_is_paused() -> None:
    facts = fold(RUN, RunOptions(auto=True), happened([*BEGUN, _ended("done"), KEPT, PAUSE]))
    facts.stop = "enough"
    assert next_move(facts, NOW) == End("stopped", "enough")


def test_a_paused_run_whose_stop_meets_trouble_waits_for_that_and_not_for_a_person() -> None:
    trouble = ("trouble.met", {"run": RUN, "what": "no disk", "retry_at": LATER})
    facts = fold(RUN, RunOptions(auto=True), happened([*BEGUN, PAUSE, trouble]))
    facts.stop = "enough"
    assert next_move(facts, NOW) == Wait(WaitReason.TRANSIENT_ERROR, "trouble: no disk", LATER)


def test_files_of_an_attempt_that_was_cut_short_are_kept_before_anything_else() -> None:
    facts = fold(RUN, RunOptions(auto=True), happened([*BEGUN, _ended("cancelled")]))
    facts.stop = "enough"
    assert repr(next_move(facts, NOW)) == repr(moves.Keep("1", 1))
    assert repr(_after(_ended("stalled"))) == repr(moves.Keep("1", 1))
    assert _after(_ended("stalled"), KEPT) == moves.Attempt("1", 2, "implement")


def test_a_usage_limit_that_opens_during_a_pause_waits_for_the_person() -> None:
    facts = fold(RUN, RunOptions(auto=True), happened([*BEGUN, _ended("limited"), PAUSE]))
    assert [next_move(facts, NOW), next_move(facts, LATER)] == [Wait(WaitReason.PAUSE, "paused", None)] * 2


def test_a_paused_run_says_for_whom_it_waits_and_since_when() -> None:
    facts = fold(RUN, RunOptions(auto=True), happened([*BEGUN, PAUSE]))
    assert waits_for(facts, NOW) == WaitsFor("agent", "1", why="then it pauses", pauses=True, attempt="1")
    facts = fold(RUN, RunOptions(auto=True), happened([*BEGUN, _ended("done"), KEPT, PAUSE]))
    assert waits_for(facts, NOW) == WaitsFor("resume", "1", NOW, None, "lunch")
    assert [phase.state for phase in progress(facts, NOW)] == ["paused"]
