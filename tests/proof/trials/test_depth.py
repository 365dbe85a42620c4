"""What each depth runs, and how long that may take against the suite."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import pytest

from asbuilt.proof.trials.depth import (
    DEPTHS,
    SHORT_S,
    Trial,
    covers,
    depth_in,
    forecast,
    may_take_s,
    words_for,
)

if TYPE_CHECKING:
    from asbuilt.events.options import Depth

LONG_S = 100.0
STARTED_S = 105.0
"""What a proof has taken when its suite of `LONG_S`, and the canaries, are over."""


@pytest.mark.parametrize("depth", ["normal", "strict"])
def test_a_suite_of_up_to_20_seconds_gets_every_trial_uncut(depth: Depth) -> None:
    whole = {
        trial: may_take_s(trial, depth, SHORT_S, 1_000, tests_differ=False, is_narrow=False)
        for trial in Trial
    }
    assert whole == {
        Trial.OLD_TESTS: inf,
        Trial.NEW_TESTS: inf,
        Trial.EMPTIED: inf,
        Trial.OWN_CHECKS: inf,
        Trial.LINES: 60,
        Trial.PROBE: 20,
        Trial.SURVIVORS: 120,
        Trial.PARTS: 60,
    }


def test_strict_has_the_same_trials_for_a_long_suite() -> None:
    long = [may_take_s(trial, "strict", LONG_S, 10_000, tests_differ=True) for trial in Trial]
    assert long == [inf, inf, inf, inf, 100, 100, 600, 300]


@pytest.mark.parametrize(
    ("tests_differ", "allowed"),
    [(False, [inf, 40, 40, 40, 0, 0, 0, 15]), (True, [inf, 110, 110, 110, 0, 0, 0, 15])],
)
def test_normal_has_half_a_long_suite_for_trials_and_more_where_tests_differ(
    *, tests_differ: bool, allowed: list[float]
) -> None:
    found = [
        may_take_s(trial, "normal", LONG_S, STARTED_S, tests_differ=tests_differ, is_narrow=False)
        for trial in Trial
    ]
    assert found == pytest.approx(allowed)


@pytest.mark.parametrize("tests_differ", [False, True])
@pytest.mark.parametrize("depth", ["quick", "normal"])
def test_what_a_proof_has_no_time_for_does_not_run(depth: Depth, *, tests_differ: bool) -> None:
    shares = {"quick": (1.2, 1.2), "normal": (1.5, 2.2)}
    spent_s = (shares[depth][tests_differ] - 0.09) * LONG_S
    found = {may_take_s(trial, depth, LONG_S, spent_s, tests_differ=tests_differ) for trial in Trial}
    assert found == {0.0}


def test_the_whole_of_the_old_tests_runs_in_normal_whatever_it_takes() -> None:
    spent_s = 2 * LONG_S
    found_s = may_take_s(Trial.OLD_TESTS, "normal", LONG_S, spent_s, tests_differ=True, is_narrow=False)
    assert found_s == inf


@pytest.mark.parametrize(("suite_s", "spent_s", "narrow_s"), [(2.0, 9.0, inf), (LONG_S, STARTED_S, 10.0)])
def test_quick_runs_nothing_but_old_tests_that_can_run_alone(
    suite_s: float, spent_s: float, narrow_s: float
) -> None:
    narrow = [may_take_s(trial, "quick", suite_s, spent_s, tests_differ=True) for trial in Trial]
    whole = [
        may_take_s(trial, "quick", suite_s, spent_s, tests_differ=True, is_narrow=False) for trial in Trial
    ]
    assert narrow == pytest.approx([narrow_s, 0, 0, 0, 0, 0, 0, 0])
    assert whole == [0.0] * len(Trial)


def test_evidence_stands_for_its_own_depth_and_for_less() -> None:
    stands = {kept: [wanted for wanted in DEPTHS if covers(kept, wanted)] for kept in (*DEPTHS, "")}
    assert stands == {
        "strict": ["strict", "normal", "quick"],
        "normal": ["normal", "quick"],
        "quick": ["quick"],
        "": ["strict", "normal", "quick"],
    }


def test_a_run_from_before_there_were_depths_is_normal() -> None:
    assert [depth_in(one) for one in (None, "quick", "strict", "deep")] == [
        "normal", "quick", "strict", "normal",
    ]  # fmt: skip


def test_trials_that_did_not_run_are_named_in_their_order() -> None:
    named = "the checks without the phase's product files, the checks without each file and function"
    left_out = words_for((Trial.PARTS, Trial.EMPTIED), "normal")
    assert left_out == (f"not run: {named}; proof.depth is normal",)
    assert words_for((), "quick") == ()


@pytest.mark.parametrize(
    ("depth", "suite_s", "words"),
    [
        ("quick", None, "quick: suite, canaries, checks"),
        ("quick", 50, "quick: suite, canaries, checks; at most about 60 s a phase"),
        ("normal", 0.4, "normal: suite, canaries, checks, the base's tests, trials; the suite takes 1 s"),
        (
            "strict",
            600,
            "strict: suite, canaries, checks, the base's tests, every trial uncut; the suite takes 10 min",
        ),
    ],
)
def test_a_forecast_says_what_runs_and_how_long(depth: Depth, suite_s: float | None, words: str) -> None:
    assert forecast(depth, suite_s) == words


def test_a_forecast_of_a_long_suite_says_the_most_that_a_phase_takes() -> None:
    runs = "normal: suite, canaries, checks, the base's tests, trials"
    assert forecast("normal", 100) == f"{runs}; at most about 150 s a phase, 220 s where tests change"
