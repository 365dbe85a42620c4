"""Count the tests that ran, from a runner's output or report. An incomplete summary counts as none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.counts import others, summaries
from asbuilt.proof.counts.model import Counts
from asbuilt.proof.counts.reports import MAX_XML, failures_in, from_junit, from_report, joined
from asbuilt.proof.counts.summaries import from_tap

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_XML", "Counts", "failures_in", "from_junit", "from_output", "from_report", "joined"]

_ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_WHOLE: Final[tuple[Callable[[str], Counts | None], ...]] = (
    others.from_pytest, others.from_unittest, others.from_jest, others.from_node, summaries.RSPEC.read,
    summaries.MOCHA.read, others.from_ava, others.from_uvu, others.from_ctest, summaries.MESON.read,
    summaries.NEXTEST.read, others.from_prove, others.from_phpunit,
)  # fmt: skip
"""Readers of runners that print one summary for everything."""
_IN_PARTS: Final[tuple[Callable[[str], Counts | None], ...]] = (
    others.from_go_json, summaries.CARGO.read, others.from_go, summaries.SUREFIRE.read, summaries.GRADLE.read,
    summaries.DOTNET.read, summaries.AUTOMAKE.read, summaries.GTEST.read, summaries.CATCH.read,
    summaries.UNITY.read, from_tap,
)  # fmt: skip
"""Readers of runners that print a summary per part; runners that start others come first."""


def from_output(text: str, *, cut: bool = False) -> Counts | None:
    """Read the last complete summary that a known runner printed; None if there is none.

    Runners with a summary per part are not counted if the output was cut: parts may be missing.
    """
    plain = _ANSI.sub("", text).replace("\r\n", "\n")
    for read in (*_WHOLE, *(() if cut else _IN_PARTS), others.from_plain):
        counts = read(plain)
        if counts is not None:
            return counts
    return None
