"""Count tests in the output of pytest, unittest and Django."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from asbuilt.proof.counts.model import Counts, named, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.proof.counts.model import State

_PYTEST: Final = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s(?: \([\d:]+\))?\s*=*$", re.MULTILINE)
_PYTEST_NONE: Final = re.compile(r"^=*\s*no tests ran in [\d.]+s\s*=*$", re.MULTILINE)
_FAILED_NAME: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_UNITTEST: Final = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s\s*\n+(OK|FAILED|NO TESTS RAN)(?: \(([^)]*)\))?\s*$", re.MULTILINE
)
_BEGUN: Final = re.compile(r"(?<!\w)(\w+) \(([\w.]+)\)(?:\n[^\n]*)? \.\.\. ")
_ENDED: Final = re.compile(r"(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$", re.MULTILINE)
_STATES: Final[dict[str, State]] = {"ok": "passed", "FAIL": "failed", "ERROR": "failed"}


def from_pytest(text: str) -> Counts | None:
    """Read the last summary of pytest, and the failures that it lists."""
    found = _PYTEST.findall(text)
    if not found:
        return Counts(0, 0, 0) if _PYTEST_NONE.search(text) else None
    words = words_of(found[-1])
    failed = words.get("failed", 0) + words.get("error", 0) + words.get("errors", 0)
    hidden = 0 if failed else sum(re.search(r"\b(failed|errors?)\b", one) is not None for one in found)
    # An expected failure did run; a deselected test was never asked for.
    ran = words.get("passed", 0) + failed + words.get("xfailed", 0) + words.get("xpassed", 0)
    names = tuple(dict.fromkeys(_FAILED_NAME.findall(text)))
    return Counts(ran, failed, words.get("skipped", 0), names, hidden=hidden)


def from_unittest(text: str) -> Counts | None:
    """Read the summary of unittest, and the names that `-v` adds."""
    found = _UNITTEST.findall(text)
    if not found:
        return None
    total, _, details = found[-1]
    words = {word: int(number) for word, number in re.findall(r"(\w+)=(\d+)", details)}
    skipped, failed = words.get("skipped", 0), words.get("failures", 0) + words.get("errors", 0)
    hidden = 0 if failed else sum(word == "FAILED" for _, word, _ in found)
    # Fixture errors and class-level skips are not among the tests that ran.
    ran = max(int(total) - skipped, failed)
    return named(Counts(ran, failed, skipped, hidden=hidden), _named_by_unittest(text))


def _named_by_unittest(text: str) -> Iterator[tuple[str, State]]:
    """Read the lines of `-v`, past a test's own output; a test without a result did not end."""
    begun = list(_BEGUN.finditer(text))
    for test, later in zip_longest(begun, begun[1:]):
        meanwhile = text[test.end() : later.start() if later else len(text)]
        ended = _ENDED.search(meanwhile.partition("\n-----")[0].partition("\n=====")[0])
        if ended is not None:
            # Before Python 3.11 the place lacks the test's name.
            name, place = test.groups()
            full = place if place.rpartition(".")[2] == name else f"{place}.{name}"
            yield full, _STATES.get(ended[1], "other")
