"""Depth of a phase's proof: which trials run after its suite has passed, and their time limits. Pure.

Rules: a suite of up to `SHORT_S` gets every trial of `normal` uncut. Evidence names trials that did not run.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from math import inf
from typing import Final, assert_never, get_args

from asbuilt.events.options import Depth

DEPTHS: Final[tuple[Depth, ...]] = get_args(Depth)
SHORT_S: Final = 20.0
_SHARES: Final[dict[Depth, tuple[float, float]]] = {"quick": (1.2, 1.2), "normal": (1.5, 2.2)}
"""Limit for the whole proof as a multiple of the suite's time: without and with changed tests."""
_PART: Final = 0.15
_LONGEST_S: Final = 300.0
_PARTS_S: Final = 10.0
_RECORDED_S: Final = 60.0
_SURVIVORS_S: Final = 40.0
_MARGIN: Final = 0.05
"""Share of the suite's time that a trial needs to start and stop."""
_LEAST: Final = 0.05
_LEAST_S: Final = 1.0
"""A trial with less time than this, or than the share above of the suite's time, shows nothing."""
_MINUTES_S: Final = 300.0


class Trial(StrEnum):
    """A run that tries what a green suite shows, the most significant first."""

    OLD_TESTS = "the base's tests on the new code"
    NEW_TESTS = "the phase's tests on its base"
    EMPTIED = "the checks without the phase's product files"
    OWN_CHECKS = "the phase's own checks on its base"
    LINES = "new lines that no test runs"
    PROBE = "changes to new lines"
    SURVIVORS = "changes to new lines against every check"
    PARTS = "the checks without each file and function"


def depth_in(chosen: object) -> Depth:
    """Read a depth from a run's options; older runs have none, which is `normal`."""
    return next((depth for depth in DEPTHS if depth == chosen), "normal")


def covers(kept: str, wanted: Depth) -> bool:
    """Return whether evidence is deep enough; evidence from before there were depths is."""
    return kept not in DEPTHS or DEPTHS.index(kept) <= DEPTHS.index(wanted)


def is_tight(depth: Depth, suite_s: float) -> bool:
    """Return whether trials have to fit into a share of the suite's time."""
    return depth == "quick" or (depth == "normal" and suite_s > SHORT_S)


def may_take_s(
    trial: Trial, depth: Depth, suite_s: float, spent_s: float, *, tests_differ: bool, is_narrow: bool = True
) -> float:
    """Return a trial's time limit in seconds: 0 if it does not run, infinity if it has no limit.

    `spent_s` is the time of the proof so far, including the suite. A trial is narrow if it runs a part of the
    suite. A single command of the whole suite that is stopped early shows nothing.
    """
    if depth == "quick" and not (trial is Trial.OLD_TESTS and is_narrow):
        return 0.0
    tight = is_tight(depth, suite_s)
    box = _box_s(trial, suite_s, is_tight=tight, is_narrow=is_narrow)
    left = inf
    if tight and suite_s > SHORT_S:
        left = (_SHARES[depth][tests_differ] - _MARGIN) * suite_s - spent_s
    # Without the old tests, a phase that changes tests needs a sign-off, so they get their time.
    fits = min(box, inf if trial is Trial.OLD_TESTS and not is_narrow else left)
    return fits if fits >= max(_LEAST_S, _LEAST * suite_s) or not tight else 0.0


def _box_s(trial: Trial, suite_s: float, *, is_tight: bool, is_narrow: bool) -> float:
    match trial:
        case Trial.OLD_TESTS | Trial.NEW_TESTS | Trial.EMPTIED | Trial.OWN_CHECKS:
            return inf
        case Trial.LINES | Trial.PROBE if is_tight:
            return min(suite_s * _PART, _LONGEST_S) if is_narrow else 0.0
        case Trial.LINES:
            # A recorder slows tests down, and the machine may be busy.
            return max(suite_s, _RECORDED_S)
        case Trial.PROBE:
            return suite_s
        case Trial.SURVIVORS:
            # Two mutants have to pass the whole suite before the user is asked.
            return 0.0 if is_tight else max(6 * suite_s, _SURVIVORS_S)
        case Trial.PARTS:
            return min(suite_s * _PART, _LONGEST_S) if is_tight else max(3 * suite_s, _PARTS_S)
        case _:
            assert_never(trial)


def words_for(left_out: Iterable[Trial], depth: Depth) -> tuple[str, ...]:
    """Name the trials that did not run."""
    named = ", ".join(trial for trial in Trial if trial in {*left_out})
    return (f"not run: {named}; proof.depth is {depth}",) if named else ()


def forecast(depth: Depth, suite_s: float | None) -> str:
    """Describe what proves a phase and how long it takes; `suite_s` is None if the suite was never timed."""
    match depth:
        case "quick":
            runs = "suite, canaries, checks"
        case "normal":
            runs = "suite, canaries, checks, the base's tests, trials"
        case "strict":
            runs = "suite, canaries, checks, the base's tests, every trial uncut"
        case _:
            assert_never(depth)
    if suite_s is None:
        return f"{depth}: {runs}"
    if depth == "strict" or suite_s <= SHORT_S:
        return f"{depth}: {runs}; the suite takes {_lasting(suite_s)}"
    least, most = (_lasting(share * suite_s) for share in _SHARES[depth])
    more = f", {most} where tests change" if most != least else ""
    return f"{depth}: {runs}; at most about {least} a phase{more}"


def _lasting(seconds: float) -> str:
    return f"{max(seconds, 1):.0f} s" if seconds < _MINUTES_S else f"{seconds / 60:.0f} min"
