"""How many tests a suite's own output says it ran: what the agent saw, against the baseline."""

from __future__ import annotations

import re
from typing import Final

_SUMS: Final = (
    re.compile(r"^go: ([1-9]\d*)$", re.MULTILINE),
    re.compile(r"^# tests (\d+)", re.MULTILINE),  # node:test and tape
    re.compile(r"^ℹ tests (\d+)", re.MULTILINE),
    re.compile(r"Ran (\d+) tests? in"),  # unittest
    re.compile(r"tests failed out of (\d+)"),  # ctest
    re.compile(r"^# TOTAL: +(\d+)", re.MULTILINE),  # automake
)
_PARTS: Final = (
    re.compile(r"(\d+) (passed|failed|skipped|xfailed|xpassed|errors?)\b(?=.* in [\d.]+)"),  # pytest
    re.compile(r"^ +(\d+) (passing|failing|pending)", re.MULTILINE),  # mocha
    re.compile(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored"),  # libtest
    re.compile(r"^(Ok|Fail|Skipped|Expected Fail): +(\d+)", re.MULTILINE),  # meson
)


def ran(output: str) -> int | None:
    """Return how many tests the output says were there, skipped ones included; None where it says nothing."""
    output = output.rpartition("== counts\n")[2]
    for pattern in _SUMS:
        found = pattern.findall(output)
        if found:
            return sum(int(number) for number in found)
    for pattern in _PARTS:
        found = pattern.findall(output)
        if found:
            return sum(int(part) for parts in found for part in parts if part.isdecimal())
    return None
