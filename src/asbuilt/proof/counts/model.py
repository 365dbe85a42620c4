"""Counts of one test run, and how test names are added to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

State = Literal["passed", "failed", "other"]


class Counts(NamedTuple):
    """The tests of one run."""

    ran: int
    failed: int
    skipped: int
    failures: tuple[str, ...] = ()
    """Names of failed tests, if the runner reports them."""
    passed: tuple[str, ...] = ()
    """Names of passed tests, if the runner reports them."""
    hidden: int = 0
    """Number of earlier summaries in the same output that have failures while the last one has none."""
    others: tuple[str, ...] = ()
    """Names of tests that were skipped or failed as expected."""

    @property
    def names(self) -> frozenset[str]:
        """Every name, without parameters."""
        every = (*self.failures, *self.passed, *self.others)
        return frozenset(name.partition("[")[0] for name in every)

    @property
    def ran_names(self) -> frozenset[str]:
        """Names of tests that ran to the end; empty if only failures have names."""
        if self.ran > self.failed and not self.passed:
            return frozenset()
        return frozenset(name.partition("[")[0] for name in (*self.failures, *self.passed))

    @property
    def collected(self) -> int:
        """Number of tests, run or skipped."""
        return self.ran + self.skipped


def named(counts: Counts, tests: Iterable[tuple[str, State]]) -> Counts:
    """Add the names of tests. Of several tests with one name, a failed one decides."""
    states: dict[str, State] = {}
    for name, state in tests:
        if states.get(name) != "failed":
            states[name] = state
    failures, passed, others = (
        tuple(name for name, state in states.items() if state == wanted)
        for wanted in ("failed", "passed", "other")
    )
    return counts._replace(failures=failures, passed=passed, others=others)


def counted(tests: Iterable[tuple[str, State]]) -> Counts:
    """Count tests that are listed one by one."""
    every = list(tests)
    failed, skipped = (sum(state == wanted for _, state in every) for wanted in ("failed", "other"))
    return named(Counts(len(every) - skipped, failed, skipped), every)


def agreeing(counts: Counts, tests: Iterable[tuple[str, State]]) -> Counts:
    """Add names to a summary's counts if the numbers agree; otherwise names may be invented."""
    every = list(tests)
    return named(counts, every) if counted(every)[:3] == counts[:3] else counts
