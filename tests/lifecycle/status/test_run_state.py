from __future__ import annotations

from typing import Any

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.lifecycle.kinds import fold
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.run_state import PhaseProgress, WaitsFor, progress, waits_for
from tests.support.happened import happened

RUN = "r1"
AT = "2026-11-15T01:00:00.000Z"
NOW = "2026-11-15T02:00:00.000Z"
LATER = "2026-11-15T05:00:00.000Z"
Events = list[tuple[str, dict[str, Any]]]
WORKING: Events = [
    ("run.started", {"run": RUN, "base": "b0", "phases": {"1": []}}),
    ("tests.resolved", {"run": RUN, "source": "given", "command": "true", "found": []}),
    ("workspace.made", {"run": RUN}),
    ("setup.done", {"run": RUN, "outcome": "PASS"}),
    ("baseline.done", {"run": RUN, "outcome": "PASS"}),
    ("phase.begun", {"run": RUN, "phase": "1", "at": AT}),
]
TRANSIENT_ERROR = (
    "trouble.met",
    {"run": RUN, "what": "over the limit of the disk", "retry_at": LATER, "at": AT},
)
LIMITED: Events = [
    ("attempt.begun", {"run": RUN, "phase": "1", "number": 1, "role": "implement"}),
    ("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "limited", "resets_at": LATER}),
    ("run.parked", {"run": RUN, "reason": "limit", "why": "a limit", "until": LATER, "at": AT}),
]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([TRANSIENT_ERROR], WaitsFor("time", "1", AT, LATER, "trouble: over the limit of the disk")),
        (LIMITED, WaitsFor("limit", "1", AT, LATER, "a limit")),
    ],
)
def test_what_goes_on_by_itself_is_told_with_its_reason_and_when(events: Events, told: WaitsFor) -> None:
    facts = fold(RUN, RunOptions(auto=True), happened([*WORKING, *events]))
    assert waits_for(facts, NOW) == told
    assert waits_for(facts, LATER) == WaitsFor("agent", "1", attempt="1")


def test_a_phase_whose_run_met_trouble_is_parked() -> None:
    assert progress(fold(RUN, RunOptions(), happened([*WORKING, TRANSIENT_ERROR])), NOW) == [
        PhaseProgress("1", "", "parked", AT)
    ]


def test_whoever_asks_a_run_to_go_on_ends_its_wait_after_trouble() -> None:
    hastened = ("run.hastened", {"run": RUN})
    assert waits_for(
        fold(RUN, RunOptions(), happened([*WORKING, TRANSIENT_ERROR, hastened])), NOW
    ) == WaitsFor("agent", "1", attempt="1")


def test_what_an_attempt_cost_is_counted_once_however_often_it_was_started() -> None:
    told = [
        ("attempt.ended", "1.1", {"ending": "limited"}, 0.25),
        ("attempt.ended", "1.1", {"ending": "done"}, 0.75),
        ("verifier.ended", "1.1v", {"ending": "crashed"}, 0.5),
        ("verdict.given", "1.1v2", {"outcome": "PASS"}, 1.0),
    ]
    about = {"run": RUN, "phase": "1", "number": 1, "tokens": 100}
    events: Events = [
        (kind, {**about, **how, "attempt": attempt, "cost_usd": cost}) for kind, attempt, how, cost in told
    ]
    assert fold(RUN, RunOptions(), happened(events)).spent == Spent(2.25, 300)
