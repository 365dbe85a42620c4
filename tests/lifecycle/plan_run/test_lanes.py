"""Lanes as pure decisions: whichever chain of a run moves next, the same promises hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.events.options_json import read_options
from asbuilt.events.phases import PhaseForked
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.limits import FIX_LIMIT
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.status.timeline import spans_of
from tests.lifecycle.plan_run.test_next_move import DIAMOND, RUN, World
from tests.support.happened import happened

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.moves import Move

WIDE = {"1": [], "2": [], "3": ["1"], "4": ["1", "2"], "5": []}
AUTO = {"mode": "finish", "auto": True, "hold": False}


@dataclass
class Beside(World):
    """Lets any chain of the run that can move do so, by chance."""

    most: int = 0
    seen: list[tuple[str, Move]] = field(default_factory=list)

    def live(self) -> moves.End:
        for _ in range(1000):
            facts = self.facts()
            self.most = max(self.most, len(facts.open_lanes))
            chosen = self._moving(facts)
            assert chosen, (facts.open_lanes, facts.ready, "no chain can move")
            lane = self._draw(*sorted(chosen))
            move = chosen[lane]
            self.seen.append((lane, move))
            if isinstance(move, moves.End):
                assert facts.open_lanes == []
                return move
            self.perform(move)
        raise AssertionError(self.seen)

    def _moving(self, facts: PlanFacts) -> dict[str, Move]:
        found = {}
        for lane in ("", *facts.open_lanes):
            facts.at = lane
            move = next_move(facts, self.now)
            if not (isinstance(move, moves.Wait) and move.reason is WaitReason.LANES):
                found[lane] = move
        facts.at = ""
        return found

    def perform(self, move: Move) -> None:
        match move:
            case moves.Fork(phase=phase, base=base):
                self._say("phase.forked", phase=phase, base=base)
            case moves.Join(phase=phase, state=state, number=number, reason=reason):
                self._say("phase.joined", phase=phase, state=state, number=number, reason=reason)
            case moves.MergePhase(phase=phase, of=of, number=number):
                clash = ["shared.py"] if self._draw("clean", "clean", "conflict") == "conflict" else []
                tip = self.facts().base_now
                self._say(
                    "phase.merged", phase=phase, of=of, number=number, base=tip, commit="m", tree="t",
                    conflicts=clash, failures=clash,
                )  # fmt: skip
            case _:
                super().perform(move)


@settings(max_examples=300)
@given(st.sampled_from([DIAMOND, WIDE]), st.sampled_from([1, 2, 3]), st.data())
def test_lanes_end_and_each_phase_is_merged_once_and_after_its_needs(
    plan: dict[str, list[str]], lanes: int, answers: st.DataObject
) -> None:
    world = Beside({**AUTO, "lanes": lanes}, answers, plan)
    end = world.live()
    facts = world.facts()
    assert world.most <= (lanes if lanes > 1 else 0)
    done: list[str] = []
    for lane, move in world.seen:
        if isinstance(move, moves.Commit):
            # The run's own chain is the only one that commits.
            assert (lane, set(plan[move.phase]) <= {*done}) == ("", True)
            done.append(move.phase)
        if isinstance(move, moves.Fork):
            assert set(plan[move.phase]) <= {*done}
    assert len(done) == len({*done})
    assert all(phase.fixes <= FIX_LIMIT for phase in facts.phases.values())
    for name, lane_facts in facts.lanes.items():
        assert lane_facts.joined is not None
        # Whatever is ready is merged, or the run says which phase was given up.
        assert lane_facts.joined.state != "ready" or facts.phases[name].proven or end.state != "landed"


@settings(max_examples=100)
@given(st.data())
def test_a_plan_whose_phases_need_each_other_opens_no_lane(answers: st.DataObject) -> None:
    chain: dict[str, list[str]] = {"1": [], "2": ["1"], "3": ["2"]}
    options: dict[str, Any] = {**AUTO, "lanes": 3}
    world = Beside(options, answers, chain)
    world.live()
    assert not any(isinstance(one.event, PhaseForked) for one in world.events)
    assert all(lane == "" for lane, _ in world.seen)


def _at(minute: int) -> str:
    return f"2026-11-15T02:{minute:02}:00.000Z"


def _day(*events: tuple[int, str, dict[str, Any]]) -> PlanFacts:
    """Fold two lanes, and what happens in which minute."""
    told: list[tuple[int, str, dict[str, Any]]] = [
        (0, "run.started", {"base": "b0", "phases": {"1": [], "2": []}}),
        (0, "phase.forked", {"phase": "1", "base": "b0"}),
        (0, "phase.forked", {"phase": "2", "base": "b0"}),
        (0, "run.parked", {"reason": "lanes", "why": "phase 1 and 2"}),
        *events,
    ]
    entries = happened([(kind, {"run": RUN, "at": _at(minute), **data}) for minute, kind, data in told])
    facts = fold(RUN, read_options({**AUTO, "lanes": 2}), entries)
    assert isinstance(facts, PlanFacts)
    return facts


PARKED = {"reason": "answer", "why": "approval a1"}


def test_a_run_works_while_one_of_its_lanes_does() -> None:
    one = _day((10, "run.parked", {**PARKED, "phase": "1"}))
    assert (one.is_waiting, one.time.worked_s(_at(20))) == (False, 1_200)
    both = _day((10, "run.parked", {**PARKED, "phase": "1"}), (15, "run.parked", {**PARKED, "phase": "2"}))
    assert (both.is_waiting, both.time.worked_s(_at(20))) == (True, 900)


def test_a_transient_error_delays_the_lane_that_met_it() -> None:
    facts = _day((10, "trouble.met", {"what": "the disk is full", "retry_at": _at(30), "phase": "1"}))
    assert {name: chain.transient_errors for name, chain in facts.chains.items()} == {"": 0, "1": 1, "2": 0}
    beside = _day(
        (10, "trouble.met", {"what": "the disk is full", "retry_at": _at(30), "phase": "1"}),
        (11, "phase.begun", {"phase": "2"}),
    )
    assert beside.chains["1"].retry_at == _at(30)


def test_the_timeline_shows_the_wait_of_one_lane_beside_the_work_of_another() -> None:
    told: list[tuple[int, str, dict[str, Any]]] = [
        (0, "run.parked", {**PARKED, "phase": "1"}),
        (5, "attempt.begun", {"phase": "2", "number": 1, "role": "implement"}),
        (9, "attempt.begun", {"phase": "1", "number": 1, "role": "implement"}),
    ]
    entries = happened([(kind, {"run": RUN, "at": _at(minute), **data}) for minute, kind, data in told])
    shown = [(span.doing, span.phase, span.began, span.ended) for span in spans_of(entries, _at(20))]
    assert shown[0] == ("wait", "1", _at(0), _at(9))
    assert shown[1] == ("work", "2", _at(5), _at(20))
