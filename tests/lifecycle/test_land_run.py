from __future__ import annotations

from typing import Any

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import read_options
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.moves import End
from tests.support.happened import happened

RUN = "r2"
NOW = "2026-11-15T02:00:00.000Z"
Events = list[tuple[str, dict[str, Any]]]
WORK = ["1", "r1", "a"]
READY: Events = [
    ("tests.resolved", {"run": RUN, "source": "given", "command": "true", "found": []}),
    ("setup.done", {"run": RUN, "outcome": "PASS"}),
    ("baseline.done", {"run": RUN, "outcome": "PASS"}),
]
COMPARED: tuple[str, dict[str, Any]] = ("plan.compared", {"run": RUN, "point": "0"})


def names_of_moves(options: dict[str, Any], events: Events) -> list[str]:
    """Name the move after each event; moves without fields are equal as tuples."""
    entries = happened(events)
    return [
        repr(next_move(fold(RUN, read_options(options), entries[:seen]), NOW))
        for seen in range(len(entries) + 1)
    ]


def started(**data: object) -> tuple[str, dict[str, Any]]:
    return "run.started", {"run": RUN, "base": "b", "phases": {"1": []}, **data}


def test_a_run_that_lands_makes_no_workspace_and_lands_what_is_proven() -> None:
    events: Events = [
        started(unlanded=[WORK], done=["1"]),
        *READY,
        COMPARED,
        ("landing.intended", {"run": RUN, "new": "n", "old": "o"}),
        ("landing.done", {"run": RUN, "new": "n", "commits": [[*WORK, "A"]]}),
        ("plan.marked", {"run": RUN}),
        ("landing.tidied", {"run": RUN}),
    ]
    assert names_of_moves({"kind": "land"}, events) == [
        "Start()", "ResolveTests()", "SetUp()", "Baseline()", "Compare(point='0')", "Land()", "Land()",
        "Mark()", "Tidy()", "End(state='landed', reason='', next_step='', other='')",
    ]  # fmt: skip


def test_an_undo_lands_reverts_and_ends_undone() -> None:
    events: Events = [
        started(of="r1", undoes=[[*WORK, "A"]]),
        *READY,
        ("landing.done", {"run": RUN, "new": "n"}),
        ("plan.marked", {"run": RUN}),
        ("landing.tidied", {"run": RUN}),
    ]
    assert names_of_moves({"kind": "undo"}, events) == [
        "Start()", "ResolveTests()", "SetUp()", "Baseline()", "Land()", "Mark()", "Tidy()",
        "End(state='undone', reason='', next_step='', other='')",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "data", "reason"),
    [
        ({"kind": "land"}, {"done": ["1"]}, "nothing to land: the target has all proven commits"),
        ({"kind": "undo"}, {"of": "r1"}, "nothing to undo: no proven work of run r1 is left"),
        ({"mode": "finish"}, {"done": ["1"]}, "the plan is already complete: every phase is done"),
        ({"phase": "1"}, {"done": ["1"], "phases": {"1": [], "2": []}}, "phase 1 is already done"),
    ],
)
def test_a_run_with_nothing_to_do_ends_before_it_makes_anything(
    options: dict[str, Any], data: dict[str, Any], reason: str
) -> None:
    assert next_move(fold(RUN, read_options(options), happened([started(**data)])), NOW) == End(
        "done", reason
    )


def test_a_landing_without_any_proven_phase_names_the_run() -> None:
    facts = fold(RUN, RunOptions(kind="land", slug="greet"), happened([started()]))
    nothing = "nothing to land: no phase is proven"
    assert next_move(facts, NOW) == End("stopped", nothing, "`asbuilt run greet`")


@pytest.mark.parametrize("unlanded", [[], [WORK]])
def test_a_phase_that_was_named_waits_for_what_it_needs_and_says_for_which(unlanded: list[list[str]]) -> None:
    diamond: dict[str, list[str]] = {"1": [], "2a": ["1"], "2b": ["1"], "3": ["2a", "2b"]}
    data = {"phases": diamond, "done": ["1"], "unlanded": unlanded}
    entries = happened([started(**data)])
    named = [next_move(fold(RUN, RunOptions(phase=phase), entries), NOW) for phase in ("3", "2a")]
    reason = "phase 3 waits for phase 2a, 2b: not done yet"
    assert named == [End("stopped", reason), moves.ResolveTests()]


def test_a_stop_waits_for_a_landing_that_was_begun_and_for_its_marks() -> None:
    events: Events = [
        started(unlanded=[WORK], done=["1"]),
        *READY,
        COMPARED,
        ("landing.intended", {"run": RUN, "new": "n", "old": "o"}),
        ("landing.done", {"run": RUN, "new": "n", "commits": [[*WORK, "A"]]}),
        ("plan.marked", {"run": RUN}),
    ]
    told = []
    for seen in range(1, len(events) + 1):
        facts = fold(RUN, RunOptions(kind="land"), happened(events[:seen]))
        facts.stop = "enough"
        told.append(type(next_move(facts, NOW)).__name__)
    assert told == ["End", "End", "End", "End", "End", "Land", "Mark", "End"]
    refused: Events = [*events[:5], ("landing.refused", {"run": RUN, "what": "No.", "why": "x", "next": "y"})]
    assert next_move(fold(RUN, RunOptions(kind="land"), happened(refused)), NOW) == End(
        "failed", "No. x", "y"
    )


@pytest.mark.parametrize("auto", [True, False])
def test_who_asks_for_a_landing_is_asked_about_a_changed_promise_even_of_a_phase_that_is_gone(
    *, auto: bool
) -> None:
    differs = {"run": RUN, "phase": "9", "point": "0", "commit": "a", "intent": None}
    events = [started(unlanded=[["9", "r1", "a"]]), *READY, ("plan.differs", differs), COMPARED]
    what = "the text of phase 9 was changed in the plan after it was frozen"
    ask = moves.Ask(f"differs/a/gone/{RUN}", "continue", f"{what}; continue with what was built?", "9")
    assert next_move(fold(RUN, RunOptions(kind="land", auto=auto), happened(events)), NOW) == ask


def test_a_direct_run_compares_before_each_landing_and_only_what_it_has_not_landed() -> None:
    landed: Events = [
        ("landing.done", {"run": RUN, "new": "n", "commits": [[*WORK, "A"]]}),
        ("plan.marked", {"run": RUN}),
    ]
    proven: Events = [
        ("phase.begun", {"run": RUN, "phase": "2", "intent": "sha256:1"}),
        ("phase.proven", {"run": RUN, "phase": "2", "commit": "b"}),
    ]
    events: Events = [
        started(unlanded=[WORK], done=["1"], phases={"1": [], "2": []}),
        *READY,
        ("workspace.made", {"run": RUN}),
        COMPARED,
        *landed,
        *proven,
        ("plan.compared", {"run": RUN, "point": "1"}),
    ]
    options = {"mode": "finish", "auto": True, "landing": "direct"}
    assert names_of_moves(options, events)[5:] == [
        "Compare(point='0')", "Land()", "Mark()", "Begin(phase='2')",
        "Attempt(phase='2', number=1, role='implement', failures=())", "Compare(point='1')", "Land()",
    ]  # fmt: skip
