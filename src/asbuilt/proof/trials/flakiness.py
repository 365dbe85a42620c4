"""Distinguish a flaky test from a broken one. Pure.

Rule: passing on a repeat proves nothing; the user, or the base's own record, has to confirm that the test
was flaky before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.proof.evidence import Evidence
from asbuilt.proof.judgement import left_out
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Severity

if TYPE_CHECKING:
    from asbuilt.proof.counts import Counts


class Flaky(NamedTuple):
    """A test that failed and passed on the same tree, with its passes over all recorded runs."""

    name: str
    passed: int
    runs: int
    was_so: bool
    """It passed and failed on the base, too."""


def to_run_again(
    shown: Evidence, counts: Counts, base: Sequence[Counts], changed: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the tests whose failures alone make a run red, though their files are unchanged; else none.

    Each must have passed on the base: a new test has to pass at once. `changed` has the test files that
    differ, with their text on the base.
    """
    new, passed = shown.new_failures, {name for tally in base for name in tally.passed}
    if shown.outcome != "FAIL" or not new or counts.failed != len(counts.failures):
        return ()
    elsewhere = left_out(new, (), changed, "\n".join(changed.values()))
    return new if set(new) <= passed and set(elsewhere) == set(new) else ()


def flaky_among(
    names: Sequence[str], again: Counts | None, base: Iterable[Counts]
) -> tuple[Flaky, ...] | None:
    """Count the passes of each test; None if one of them failed again or did not run."""
    if again is None or not all(any(_is_same(name, test) for test in again.passed) for name in names):
        return None
    records = list(base)
    found = []
    for name in names:
        passed = sum(name in counts.passed for counts in records)
        failed = sum(name in counts.failures for counts in records)
        found.append(Flaky(name, passed + 1, passed + failed + 2, was_so=bool(passed and failed)))
    return tuple(found)


def remarks_on_flaky(flaky: Iterable[Flaky]) -> tuple[Remark, ...]:
    """Return a sign-off for each test that was not known as flaky, and a note for one flaky on the base."""
    return tuple(
        Remark(
            "flaky-test",
            Severity.NOTE if test.was_so else Severity.SIGN_OFF,
            test.name,
            now=f"it failed, and passed when it was run again: {test.passed} of {test.runs}"
            + (", and both on the base" if test.was_so else ", and it never failed on the base"),
            identity=f"{test.passed}/{test.runs}",
        )
        for test in flaky
    )


def _is_same(name: str, other: str) -> bool:
    """Compare two names of which one may lack the folder that the tests ran in."""
    return name == other or name.endswith(f".{other}") or other.endswith(f".{name}")
