"""Tell a test that comes out by chance from one that is broken. Pure.

The one rule: what passes when it is run again is not proven by that; a person, or the base's own record, has
to say that it was so before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.proof.evidence import left_out
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from asbuilt.proof.counts import Counts
    from asbuilt.proof.evidence import Evidence


class Flaky(NamedTuple):
    """A test that failed and passed on the same tree, and how often it passed on all that we ran it on."""

    name: str
    passed: int
    runs: int
    was_so: bool
    """It came out both ways on the base, too."""


def to_run_again(
    shown: Evidence, counts: Counts, base: Sequence[Counts], changed: Mapping[str, str]
) -> tuple[str, ...]:
    """Name the tests whose failure alone makes a run red, though their files are as they were; else none.

    Each must have passed on the base: one that is new has to pass at once. `changed` has the test files that
    differ, with what they held on the base.
    """
    new, passed = shown.new_failures, {name for one in base for name in one.passed}
    if shown.outcome != "FAIL" or not new or counts.failed != len(counts.failures):
        return ()
    elsewhere = left_out(new, (), changed, "\n".join(changed.values()))
    return new if set(new) <= passed and set(elsewhere) == set(new) else ()


def flaky_among(
    names: Sequence[str], again: Counts | None, base: Iterable[Counts]
) -> tuple[Flaky, ...] | None:
    """Say how often each has passed in all; None when one of them failed again, or did not run."""
    if again is None or not all(any(_is_same(name, one) for one in again.passed) for name in names):
        return None
    records = list(base)
    told = []
    for name in names:
        passed = sum(name in one.passed for one in records)
        failed = sum(name in one.failures for one in records)
        told.append(Flaky(name, passed + 1, passed + failed + 2, was_so=bool(passed and failed)))
    return tuple(told)


def remarks_on_flaky(flaky: Iterable[Flaky]) -> tuple[Remark, ...]:
    """Ask a person about a test whose chance nobody knew of; one that was so on the base is worth a line."""
    return tuple(
        Remark(
            "flaky-test",
            Severity.NOTE if one.was_so else Severity.SIGN_OFF,
            one.name,
            now=f"it failed, and passed when it was run again: {one.passed} of {one.runs}"
            + (", and both on the base" if one.was_so else ", and it never failed on the base"),
        )
        for one in flaky
    )


def _is_same(name: str, other: str) -> bool:
    """Compare two names of which one may lack the folder that the tests were run from."""
    return name == other or name.endswith(f".{other}") or other.endswith(f".{name}")
