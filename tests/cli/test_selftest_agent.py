"""What `asbuilt selftest agent` makes of runs, costs and hidden tests."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any

import pytest

from asbuilt.cli.commands.selftest import exercises as measured
from asbuilt.cli.commands.selftest.exercises import (
    NAMES,
    Agents,
    Outcome,
    Row,
    Seen,
    estimate,
    is_good,
    outcome_of,
    read_exercises,
    spent_of,
)
from asbuilt.lifecycle.run.money import Spent
from asbuilt.plan.reader import read

AGENTS = Agents("1.2", "claude (opus)", "codex (its own choice of model)", "bwrap", "2031-05-06")


def run(state: str, *, why: str = "", asks: str = "", usd: float | None = 0.5) -> dict[str, Any]:
    return {
        "state": state,
        "waits_for": {"why": why},
        "questions": [{"question": asks}] if asks else [],
        "cost": {"usd": usd, "is_whole": usd is not None},
    }


@pytest.mark.parametrize(
    ("told", "seen", "outcome"),
    [
        (run("landed"), Seen("right"), (Outcome.PROVEN, "")),
        (run("landed"), Seen("wrong", "exit 1:\n  7 of 8"), (Outcome.WRONG, "exit 1: 7 of 8")),
        (run("landed"), Seen("unclear", "exit 127"), (Outcome.UNCLEAR, "exit 127")),
        (run("failed", why="not proven"), None, (Outcome.REFUSED, "not proven")),
        (run("waiting", why="a1", asks="New package x?"), None, (Outcome.ASKED, "New package x?")),
        ({}, None, (Outcome.REFUSED, "no run was started; its error message says why")),
        (run("failed", why="x" * 300), None, (Outcome.REFUSED, "x" * 197 + "...")),
    ],
)
def test_only_what_landed_and_passes_the_hidden_test_is_proven(
    told: dict[str, Any], seen: Seen | None, outcome: tuple[Outcome, str]
) -> None:
    assert outcome_of(told, seen) == outcome


@pytest.mark.parametrize(
    ("past", "silent", "words"),
    [
        ([], [], "$0.50 to $5.00, assumed without past runs"),
        ([Spent(usd=0.2), Spent(usd=0.4)], [], "about $2.00, from 2 phases proven here"),
        ([Spent(usd=0.2)], ["codex"], "unknown: codex reports no dollars"),
        ([], ["codex", "gemini"], "unknown: codex and gemini report no dollars"),
    ],
)
def test_the_estimate_goes_by_past_costs_or_says_what_it_assumes(
    past: list[Spent], silent: list[str], words: str
) -> None:
    assert estimate(past, 5, silent) == words


def test_a_cost_that_no_agent_reported_is_unknown() -> None:
    assert [spent_of(one).brief for one in (run("landed"), run("landed", usd=None), {})] == [
        "$0.50", "unknown", "unknown",
    ]  # fmt: skip


def test_the_selftest_fails_when_something_wrong_landed_or_nothing_was_proven() -> None:
    proven, refused, wrong = (Row("a", one) for one in (Outcome.PROVEN, Outcome.REFUSED, Outcome.WRONG))
    assert [is_good(rows) for rows in ([proven, refused], [refused], [proven, wrong], [])] == [
        True, False, False, False,
    ]  # fmt: skip


def test_a_reason_cannot_break_the_shared_table() -> None:
    rows = [Row("go", Outcome.REFUSED, "a | b <img>", Spent(usd=1.0, usd_unreported=1), 61)]
    assert measured.markdown(rows, AGENTS) == (
        "## asbuilt selftest agent\n\nasbuilt 1.2, 2031-05-06, sandbox: bwrap. Implements: claude (opus)."
        " Verifies: codex (its own choice of model).\n\n"
        "| plan | outcome | cost | time | reason |\n| --- | --- | --- | --- | --- |\n"
        "| go | refused | $1.00+ | 1m | a \\| b &lt;img> |\n\n1 refused; at least $1.00, 1m.\n"
    )


def test_every_plan_can_be_run_and_its_hidden_test_is_not_in_its_repository() -> None:
    exercises = read_exercises()
    assert [one.name for one in exercises] == list(NAMES)
    for one in exercises:
        plan = read(one.plan.encode())
        assert ([phase.id for phase in plan.phases], list(plan.problems)) == (["1"], [])
        assert plan.phases[0].checks
        assert one.hidden.path not in one.files
        assert "tests" in tomllib.loads(one.files["asbuilt.toml"])["checks"]
    there = {
        re.sub(r"\.toml$", "", file.name)
        for file in files("asbuilt.cli.commands.selftest").joinpath("plans").iterdir()
    }
    assert there == set(NAMES)
