"""Count the tests that ran, from a runner's output or report. An incomplete summary counts as none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from asbuilt.proof.counts import other_runners as runners
from asbuilt.proof.counts import summaries
from asbuilt.proof.counts.model import Counts
from asbuilt.proof.counts.reports import MAX_XML, failures_in, from_junit, from_report, joined
from asbuilt.proof.counts.summaries import from_tap

__all__ = ["MAX_XML", "Counts", "failures_in", "from_junit", "from_output", "from_report", "joined"]

_ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_HEADING: Final = re.compile(r"(?m)^> (\S+)@\S+ \S+\n> ")
"""What npm prints above the output of a package's script: its name, version and script, then the command."""
_WHOLE: Final[tuple[Callable[[str], Counts | None], ...]] = (
    runners.from_pytest, runners.from_unittest, runners.from_jest, runners.from_node, summaries.RSPEC.read,
    summaries.MOCHA.read, runners.from_ava, runners.from_uvu, runners.from_ctest, summaries.MESON.read,
    summaries.NEXTEST.read, runners.from_prove, runners.from_phpunit,
)  # fmt: skip
"""Readers of runners that print one summary for everything."""
_IN_PARTS: Final[tuple[Callable[[str], Counts | None], ...]] = (
    runners.from_go_json, summaries.CARGO.read, runners.from_go, summaries.SUREFIRE.read,
    summaries.GRADLE.read, summaries.DOTNET.read, summaries.AUTOMAKE.read, summaries.GTEST.read,
    summaries.CATCH.read, summaries.UNITY.read, from_tap,
)  # fmt: skip
"""Readers of runners that print a summary per part; runners that start others come first."""


def from_output(text: str, *, cut: bool = False) -> Counts | None:
    """Read the last complete summary that a known runner printed; None if there is none.

    If npm ran the tests of several workspaces, their summaries are added up. Runners with a summary per part
    are not counted if the output was cut: parts may be missing.
    """
    plain = _ANSI.sub("", text).replace("\r\n", "\n")
    return (None if cut else _of_workspaces(plain)) or _last(plain, cut=cut)


def _of_workspaces(plain: str) -> Counts | None:
    """Add up the summaries of several packages, each below the heading that npm prints; else None."""
    # A split by a pattern with one group returns texts, and between them what the group matched.
    pieces = _HEADING.split(plain)
    read = zip(pieces[1::2], map(_last, pieces[2::2]), strict=True)
    parts = [(package, counts) for package, counts in read if counts is not None]
    if len({package for package, _ in parts}) < 2:
        return None
    ran, failed, skipped, hidden = (
        sum(getattr(counts, field) for _, counts in parts) for field in ("ran", "failed", "skipped", "hidden")
    )
    whole = Counts(ran, failed, skipped, hidden=hidden)
    if any(counts.ran and not counts.ran_names for _, counts in parts):
        return whole
    failures, passed, others = (
        tuple(f"{package} > {name}" for package, counts in parts for name in getattr(counts, field))
        for field in ("failures", "passed", "others")
    )
    return whole._replace(failures=failures, passed=passed, others=others)


def _last(plain: str, *, cut: bool = False) -> Counts | None:
    read = (read(plain) for read in (*_WHOLE, *(() if cut else _IN_PARTS), runners.from_plain))
    return next((counts for counts in read if counts is not None), None)
