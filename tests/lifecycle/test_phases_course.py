"""The course of a run, move by move: on the happy way, parked, taken over, and where phases are at odds."""

from __future__ import annotations

from typing import Any

from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import read_options
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.agent_stops import Breaker
from asbuilt.lifecycle.run.moves import End, Move
from tests.lifecycle.plan_run.test_next_move import LATER, NOW, RESOLVED, RUN, VERIFIED
from tests.support.happened import happened

_HAPPY = [
    moves.Start(),
    moves.ResolveTests(),
    moves.MakeWorkspace(),
    moves.SetUp(),
    moves.Baseline(),
    moves.Begin("1"),
    moves.Attempt("1", 1, "implement"),
    moves.Attempt("1", 1, "implement"),
    moves.Keep("1", 1),
    moves.Check("1", 1),
    moves.Verify("1", 1),
    moves.Commit("1", 1),
    moves.Compare("1"),
    moves.ProveTogether(),
    moves.Report(),
    moves.Compare("landing"),
    moves.Land(),
    moves.Mark(),
    moves.Tidy(),
    End("landed", ""),
]


def test_the_happy_way_of_one_phase_is_short() -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
        ("tests.resolved", {"run": RUN, **RESOLVED["given"]}),
        ("workspace.made", {"run": RUN}),
        ("setup.done", {"run": RUN, "outcome": "PASS"}),
        ("baseline.done", {"run": RUN, "outcome": "PASS"}),
        ("phase.begun", {"run": RUN, "phase": "1"}),
        ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
        ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "done"}),
        ("tree.kept", {"run": RUN, "phase": "1", "number": 1, "commit": "c", "tree": "t", "changed": True}),
        ("checks.done", {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"}),
        ("verdict.given", {"run": RUN, "phase": "1", "number": 1, "outcome": "PASS"}),
        ("phase.proven", {"run": RUN, "phase": "1", "commit": "c1"}),
        ("plan.compared", {"run": RUN, "point": "1"}),
        ("together.done", {"run": RUN, "outcome": "PASS"}),
        ("report.written", {"run": RUN, "report": "d"}),
        ("plan.compared", {"run": RUN, "point": "landing"}),
        ("landing.done", {"run": RUN, "new": "c1", "commits": [["1", RUN, "c1", "c1"]]}),
        ("plan.marked", {"run": RUN}),
        ("landing.tidied", {"run": RUN}),
    ]
    options, entries = {"mode": "phase", "auto": True}, happened(events)
    told = [next_move(fold(RUN, read_options(options), entries[:n]), NOW) for n in range(len(entries) + 1)]
    # Moves without fields are equal as tuples, so their names are compared too.
    assert list(map(repr, told)) == [repr(move) for move in _HAPPY]


def test_a_usage_limit_parks_until_it_opens_and_goes_on_with_the_same_attempt() -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
        ("tests.resolved", {"run": RUN, **RESOLVED["given"]}),
        ("workspace.made", {"run": RUN}),
        ("setup.done", {"run": RUN, "outcome": "PASS"}),
        ("baseline.done", {"run": RUN, "outcome": "PASS"}),
        ("phase.begun", {"run": RUN, "phase": "1"}),
        ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
        ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "limited", "resets_at": LATER}),
    ]
    facts = fold(RUN, RunOptions(auto=True), happened(events))
    facts.breakers = {"implement": Breaker("mine", "usage_limit", LATER, f"{RUN}/")}
    assert next_move(facts, NOW) == moves.Wait(
        WaitReason.LIMIT, "usage limit of the agent in phase 1", LATER, account="mine"
    )
    assert next_move(facts, LATER) == moves.Attempt("1", 1, "implement")


def test_a_run_that_continues_another_begins_with_what_was_found_there() -> None:
    started = {"run": RUN, "base": "b0", "phases": {"1": []}, "carried": ["1", "c9", ["grep: FAIL, exit 1"]]}
    facts = fold(RUN, RunOptions(), happened([("run.started", started), *VERIFIED[1:6]]))
    assert isinstance(facts, PlanFacts)
    assert (facts.carried, next_move(facts, NOW)) == (
        {"1": "c9"},
        moves.Attempt("1", 1, "implement", ("grep: FAIL, exit 1",)),
    )


def test_phases_that_do_not_go_together_are_not_landed_and_it_says_why() -> None:
    proven: list[tuple[str, dict[str, Any]]] = [
        *[(kind, {"run": RUN, **data}) for kind, data in _READY],
        *[("phase.proven", {"run": RUN, "phase": phase, "commit": f"c{phase}"}) for phase in ("1", "2")],
        ("plan.compared", {"run": RUN, "point": "2"}),
    ]

    def then(*more: tuple[str, dict[str, Any]]) -> Move:
        events = [*proven, *((kind, {"run": RUN, **data}) for kind, data in more)]
        facts = fold(RUN, RunOptions(mode="finish", auto=True, slug="p"), happened(events))
        facts.breakers = {"verify": Breaker("mine", "usage_limit", limits_until, f"{RUN}/")}
        return next_move(facts, NOW)

    limits_until = NOW
    passed = ("together.done", {"outcome": "PASS"})
    undone = ("together.done", {"outcome": "FAIL", "failures": ["grep a: FAIL, exit 1"], "broken": ["1"]})
    judged = ("together.judged", {"outcome": "FAIL", "failures": [{"item": 3, "text": "x: FAIL, twice"}]})
    lost = ("together.unjudged", {"ending": "crashed", "reason": "boom"})
    limited = ("together.unjudged", {"ending": "limited", "resets_at": LATER})
    why = "the phases pass one by one, but not together"
    assert then() == moves.ProveTogether()
    opened, note = "`asbuilt plan mark p {} pending &&` `asbuilt run p{}`", ' -m "what to change"'
    assert then(undone) == End("failed", f"{why}: grep a: FAIL, exit 1", opened.format("1", ""))
    assert then(passed) == moves.VerifyTogether()
    assert then(passed, judged) == End("failed", f"{why}: item 3, x: FAIL, twice", opened.format("2", note))
    assert then(passed, lost, lost) == moves.VerifyTogether()
    assert then(passed, lost, lost, lost) == End(
        "failed", "all phases together: the verifier crashed 3 times; last: boom"
    )
    limits_until = LATER
    assert then(passed, limited) == moves.Wait(
        WaitReason.LIMIT, "usage limit of the verifier in all phases together", LATER, account="mine"
    )
    assert then(passed, ("together.judged", {"outcome": "PASS"})) == moves.Report()
    # A run of an earlier version that is about to land is not held up.
    assert then(passed, ("report.written", {"report": "d"})) == moves.Compare("landing")


_READY: list[tuple[str, dict[str, Any]]] = [
    ("run.started", {"base": "b0", "phases": {"1": [], "2": ["1"]}}),
    ("tests.resolved", RESOLVED["given"]),
    ("workspace.made", {}),
    ("setup.done", {"outcome": "PASS"}),
    ("baseline.done", {"outcome": "PASS"}),
]
