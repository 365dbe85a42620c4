"""What a command that we ran has shown. Only PASS passes; not knowing is said, never rounded up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from asbuilt.proof.counts import Counts

Outcome = Literal["PASS", "FAIL", "NOT_RUN", "INDETERMINATE"]
TESTS: Final = "tests"
"""The name of the whole test suite among checks."""
_RANK: Final[dict[Outcome, int]] = {"PASS": 0, "NOT_RUN": 1, "INDETERMINATE": 2, "FAIL": 3}


class Evidence(NamedTuple):
    """One command, what it did, and what that shows."""

    name: str
    """`tests`, or the check's own text."""
    argv: tuple[str, ...]
    exit_code: int | None
    outcome: Outcome
    why: str
    ran: int | None
    skipped: int | None
    failed: int | None
    output: str
    """Digest of the kept output."""
    duration_s: float
    tree: str
    new_failures: tuple[str, ...] = ()
    old_failures: tuple[str, ...] = ()
    setup: str = "none"
    """Digest of the setup that it ran on."""
    ring: str = ""
    """What held it: without a ring, a network and other people's files were in its reach."""
    reused: bool = False
    """True: it was shown of this very tree before, and not run again."""
    report: str = ""
    """Digest of the report that the runner wrote beside its output."""

    @property
    def is_conclusive(self) -> bool:
        """Tell whether running it again on the same tree could show nothing else: it ran, and was counted."""
        return self.outcome in ("PASS", "FAIL") and self.ran is not None


def evidence_from(plain: Mapping[str, Any]) -> Evidence:
    """Read evidence back from what was kept of it; JSON has no tuples."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
    }
    return Evidence(**fields)


class Judged(NamedTuple):
    """An outcome with its reason."""

    outcome: Outcome
    why: str
    new: tuple[str, ...] = ()
    old: tuple[str, ...] = ()


def judge_tests(
    exit_code: int | None, counts: Counts | None, *, truncated: bool, baseline: Counts | None
) -> Judged:
    """Judge a run of the test suite. New failures block; those of the base are noted."""
    if exit_code is None:
        return Judged("INDETERMINATE", "the tests were ended by their time limit")
    if counts is None:
        if exit_code != 0:
            return Judged("FAIL", f"exit {exit_code}, and no summary of the tests")
        cut = "its output was cut" if truncated else "it printed no summary that could be read"
        return Judged("INDETERMINATE", f"exit 0, but {cut}")
    if counts.ran == 0:
        return Judged("NOT_RUN", "0 tests ran")
    if baseline is not None and counts.collected < baseline.collected:
        gone = baseline.collected - counts.collected
        return Judged("FAIL", f"{gone} tests are gone: {baseline.collected} before, {counts.collected} now")
    if baseline is not None and counts.skipped > baseline.skipped:
        return Judged("FAIL", f"{counts.skipped} skipped, {baseline.skipped} before")
    old = tuple(name for name in counts.failures if baseline and name in baseline.failures)
    new = tuple(name for name in counts.failures if name not in old)
    nameless = counts.failed - len(counts.failures)
    known = baseline.failed - len(baseline.failures) if baseline else 0
    if new or nameless > max(known, 0):
        return Judged("FAIL", f"{len(new) or nameless} tests fail that did not before", new, old)
    if exit_code != 0 and not counts.failed:
        return Judged("FAIL", f"exit {exit_code}, though no test failed")
    return Judged("PASS", f"{counts.ran} ran, {counts.skipped} skipped", (), old)


def judge_setup(exit_code: int | None) -> Judged:
    """Judge a setup: where it fails, no check that follows could show anything."""
    if exit_code is None:
        return Judged("INDETERMINATE", "the setup was ended by its time limit")
    return Judged("PASS", "exit 0") if exit_code == 0 else Judged("INDETERMINATE", f"exit {exit_code}")


def judge_check(exit_code: int | None) -> Judged:
    """Judge one of a phase's own checks: it passes when it ends with 0."""
    if exit_code is None:
        return Judged("INDETERMINATE", "it was ended by its time limit")
    if exit_code in (126, 127):
        return Judged("NOT_RUN", f"exit {exit_code}: the command could not be started")
    return Judged("PASS", "exit 0") if exit_code == 0 else Judged("FAIL", f"exit {exit_code}")


def overall(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of several outcomes; of none, NOT_RUN: nothing was shown."""
    every = list(outcomes)
    return max(every, key=_RANK.__getitem__) if every else "NOT_RUN"
