from __future__ import annotations

from typing import Any

import pytest

from asbuilt.lifecycle.facts import fold
from asbuilt.lifecycle.phases import End, next_move

RUN = "r2"
NOW = "2026-11-15T02:00:00.000Z"
Events = list[tuple[str, dict[str, Any]]]
WORK = ["1", "r1", "a"]
READY: Events = [
    ("setup.done", {"run": RUN, "outcome": "PASS"}),
    ("baseline.done", {"run": RUN, "outcome": "PASS"}),
]


def moves(options: dict[str, Any], events: Events) -> list[str]:
    """Name the move after each event; moves without fields are equal as tuples."""
    return [repr(next_move(fold(RUN, options, events[:seen]), NOW)) for seen in range(len(events) + 1)]


def started(**data: object) -> tuple[str, dict[str, Any]]:
    return "run.started", {"run": RUN, "base": "b", "phases": {"1": []}, **data}


def test_a_run_that_lands_makes_no_workspace_and_lands_what_is_proven() -> None:
    events: Events = [
        started(unlanded=[WORK], done=["1"]),
        *READY,
        ("landing.intended", {"run": RUN, "new": "n", "old": "o"}),
        ("landing.done", {"run": RUN, "new": "n", "commits": [[*WORK, "A"]]}),
        ("plan.marked", {"run": RUN}),
        ("landing.tidied", {"run": RUN}),
    ]
    assert moves({"kind": "land"}, events) == [
        "Start()", "SetUp()", "Baseline()", "Land()", "Land()", "Mark()", "Tidy()",
        "End(state='landed', reason='')",
    ]  # fmt: skip


def test_an_undo_lands_reverts_and_ends_undone() -> None:
    events: Events = [
        started(of="r1", undoes=[[*WORK, "A"]]),
        *READY,
        ("landing.done", {"run": RUN, "new": "n"}),
        ("plan.marked", {"run": RUN}),
        ("landing.tidied", {"run": RUN}),
    ]
    assert moves({"kind": "undo"}, events) == [
        "Start()", "SetUp()", "Baseline()", "Land()", "Mark()", "Tidy()",
        "End(state='undone', reason='')",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "data", "reason"),
    [
        ({"kind": "land"}, {}, "nothing to land: everything that is proven is on the target"),
        ({"kind": "undo"}, {"of": "r1"}, "nothing to undo: nothing that run r1 has proven stands"),
        ({"mode": "finish"}, {"done": ["1"]}, "the plan is complete already: every phase is done"),
        ({"phase": "1"}, {"done": ["1"], "phases": {"1": [], "2": []}}, "phase 1 is done already"),
    ],
)
def test_a_run_with_nothing_to_do_ends_before_it_makes_anything(
    options: dict[str, Any], data: dict[str, Any], reason: str
) -> None:
    assert next_move(fold(RUN, options, [started(**data)]), NOW) == End("done", reason)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"landing": "pr"}, "landing by pull request is not built yet"),
        ({"landing": "rebase"}, "there is no way to land that is called rebase"),
        ({"landing": "direct", "protected": True}, "direct lands on a branch that is protected"),
        ({"kind": "dance"}, "there is no kind of run that is called dance"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_touched(
    options: dict[str, Any], words: str
) -> None:
    move = next_move(fold(RUN, options, []), NOW)
    assert isinstance(move, End)
    assert (move.state, move.reason.startswith(words)) == ("failed", True)


def test_a_stop_waits_for_a_landing_that_was_begun_and_for_its_marks() -> None:
    events: Events = [
        started(unlanded=[WORK], done=["1"]),
        *READY,
        ("landing.intended", {"run": RUN, "new": "n", "old": "o"}),
        ("landing.done", {"run": RUN, "new": "n", "commits": [[*WORK, "A"]]}),
        ("plan.marked", {"run": RUN}),
    ]
    told = []
    for seen in range(1, len(events) + 1):
        facts = fold(RUN, {"kind": "land"}, events[:seen])
        facts.stop = "enough"
        told.append(type(next_move(facts, NOW)).__name__)
    assert told == ["End", "End", "End", "Land", "Mark", "End"]
    refused: Events = [*events[:3], ("landing.refused", {"run": RUN, "what": "No.", "why": "x", "next": "y"})]
    assert next_move(fold(RUN, {"kind": "land"}, refused), NOW) == End("failed", "No. Next: y")
