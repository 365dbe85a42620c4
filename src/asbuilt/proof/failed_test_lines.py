"""Lines of a test run's output about a test that failed, for runners that end with something else. Pure.

Rule: it works for every runner whose output marks a failure and names its test in one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from asbuilt.proof.evidence import LINES, last_lines
from asbuilt.proof.trials.test_text import own_name

_FAILS: Final = re.compile(r"(?i)\bnot ok\b|\bfail(?:ed|ure|s)?\b|\berrors?\b|[✗✖✕×●]|^\s*\d+\) ")
_BEFORE: Final = 8
"""Most lines between a test's start and its failure, where a runner prints what happened between them."""
_ALL: Final = 5_000


def failure_lines(output: bytes, names: Sequence[str]) -> tuple[str, ...]:
    """Return the last lines of an output, or those about a failed test if the last ones name none.

    `names` are the tests that failed.
    """
    tail = last_lines(output)
    words = [own for own in map(own_name, names) if own]
    if not words:
        return tail
    named = re.compile("|".join(rf"(?<!\w){re.escape(own)}(?!\w)" for own in words))
    if any(_marks(line, named) for line in tail):
        return tail
    lines = last_lines(output, _ALL)
    at = next((at for at, line in enumerate(lines) if _marks(line, named)), None)
    if at is None:
        return tail
    first = next((before for before in range(max(0, at - _BEFORE), at) if named.search(lines[before])), at)
    return lines[first : first + LINES]


def _marks(line: str, named: re.Pattern[str]) -> bool:
    """Return whether a line says that a test failed; the test's own name is no sign of it."""
    return named.search(line) is not None and _FAILS.search(named.sub("", line)) is not None
