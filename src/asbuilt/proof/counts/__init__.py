"""Count the tests that ran, from a runner's output or report. An incomplete summary counts as none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from asbuilt.proof.counts import compiled, javascript, others, python
from asbuilt.proof.counts.model import Counts
from asbuilt.proof.counts.reports import MAX_XML, failures_in, from_junit, from_report, joined
from asbuilt.proof.counts.tap import from_tap

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_XML", "Counts", "failures_in", "from_junit", "from_output", "from_report", "joined"]

_ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_WHOLE: Final[tuple[Callable[[str], Counts | None], ...]] = (
    python.from_pytest,
    python.from_unittest,
    javascript.from_jest,
    javascript.from_node,
    others.from_rspec,
    javascript.from_mocha,
    javascript.from_ava,
    javascript.from_uvu,
    compiled.from_ctest,
    compiled.from_meson,
    compiled.from_nextest,
    others.from_prove,
    others.from_phpunit,
)
"""Readers of runners that print one summary for everything."""
_IN_PARTS: Final[tuple[Callable[[str], Counts | None], ...]] = (
    compiled.from_go_json,
    compiled.from_cargo,
    compiled.from_go,
    others.from_surefire,
    others.from_gradle,
    others.from_dotnet,
    compiled.from_automake,
    compiled.from_gtest,
    compiled.from_catch,
    compiled.from_unity,
    from_tap,
)
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
