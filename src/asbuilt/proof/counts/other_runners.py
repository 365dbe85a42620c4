"""Count tests in the output of runners whose summary takes more than one pattern."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from asbuilt.proof.counts.model import Counts, State, agreeing, counted, named
from asbuilt.proof.counts.summaries import tree

_PYTEST: Final = re.compile(r"(?m)^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s(?: \([\d:]+\))?\s*=*$")
_PYTEST_NONE: Final = re.compile(r"(?m)^=*\s*no tests ran in [\d.]+s\s*=*$")
_PYTEST_NAME: Final = re.compile(r"(?m)^(?:FAILED|ERROR) (\S+)")
_UNITTEST: Final = re.compile(
    r"(?m)^Ran (\d+) tests? in [\d.]+s\s*\n+(OK|FAILED|NO TESTS RAN)(?: \(([^)]*)\))?\s*$"
)
_BEGUN: Final = re.compile(r"(?<!\w)(\w+) \(([\w.]+)\)(?:\n[^\n]*)? \.\.\. ")
_ENDED: Final = re.compile(r"(?m)(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$")
_NODE: Final = re.compile(r"(?m)^(?:#|ℹ) (tests|pass|fail|skipped|cancelled|todo) (\d+)$")
_NODE_TAP: Final = re.compile(
    r"(?m)^\s*(ok|not ok) \d+ - (.+?)( # (?:SKIP|TODO).*)?$"
    r"(?!\n\s*---\n(?:\s+duration_ms.*\n)?\s+type: 'suite')"
)
_NODE_SPEC: Final = re.compile(r"(?m)^\s*(✔|✖|﹣) (.+?) \([\d.]+ms\)( # (?:SKIP|TODO).*)?$")
_NODE_PARENT: Final = re.compile(r"(?m)^\s*▶ (.+?)(?: \([\d.]+ms\))?$")
_JEST: Final = re.compile(
    r"(?m)^\s*Tests:?\s+((?:\d+ [a-z]+(?:,| \|)? ?)+)(?:\((\d+)\)|,? ?(\d+) total)?\s*$"
)
_BROKEN_FILES: Final = re.compile(r"(?m)^\s*Test (?:Suites:|Files) +(\d+) failed")
_AVA: Final = re.compile(
    r"(?m)^  (\d+) (?:tests?|(known failures?|uncaught exceptions?|unhandled rejections?))"
    r"(?: (passed|failed|skipped|todo))?$"
)
_AVA_NAMED: Final = re.compile(r"(?m)^  (✔|✘ \[fail\]:|- \[skip\]|- \[todo\]) (.+?)(?: \([\d.]+m?s\))?$")
_UVU: Final = re.compile(r"(?m)^  Total: +(\d+)\n  Passed: +(\d+)\n  Skipped: +(\d+)\n  Duration: ")
_UVU_FAILED: Final = re.compile(r'(?m)^(\S+\.[cm]?[jt]sx?)$|^   FAIL  (?:(\S.*?)  )?"(.+)"$')
_GO_FAIL: Final = r"^FAIL\t(\S+) \[(?:build|setup) failed\]$"
_GO: Final = re.compile(rf"(?m)^--- (PASS|FAIL|SKIP): (\S+)|{_GO_FAIL}")
_GO_END: Final = re.compile(r"(?m)^(?:ok  |FAIL|---|\?   )\t\S+")
_CTEST: Final = re.compile(r"(?m)^\d+% tests passed, (\d+) tests failed out of (\d+)$")
_CTEST_TEST: Final = re.compile(r"(?m)^ *\d+/\d+ Test +#\d+: (.+?) \.{2,} *(\S.*?) +[\d.]+ sec")
_CTEST_DISABLED: Final = "***Not Run (Disabled)"
_PROVE: Final = re.compile(r"(?m)^Files=\d+, Tests=(\d+), .*\nResult: (PASS|FAIL|NOTESTS)$")
_PROVE_FAILED: Final = re.compile(r"(?m)^\S.*\(Wstat: .* Tests: \d+ Failed: (\d+)\)$")
_PHPUNIT: Final = re.compile(
    r"(?m)^OK \((\d+) tests?, \d+ assertions?\)$|^Tests: (\d+), Assertions: \d+(.*)\.$"
)
_PLAIN: Final = re.compile(r"(?m)^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
_PLAIN_NAME: Final = re.compile(r"(?m)^FAIL(?:ED)?:? (\S+)\s*$")
_STATES: Final[dict[str, State]] = {
    **dict.fromkeys(("ok", "✔", "pass", "PASS", "Passed"), "passed"),
    **dict.fromkeys(("FAIL", "ERROR", "not ok", "✖", "fail", "✘ [fail]:", ""), "failed"),
    "skip": "other",
}
"""Words for the state of one test; any other word is neither passed nor failed."""


def _words(text: str, pattern: str = r"(?P<number>\d+) (?P<word>[a-z]+)") -> dict[str, int]:
    """Read a list like `1 failed, 2 passed`; a word that is not listed counts 0."""
    found = {match["word"]: int(match["number"]) for match in re.finditer(pattern, text)}
    return {**dict.fromkeys(_LISTED, 0), **found}


_LISTED: Final = (
    "passed failed error errors xfailed xpassed skipped todo failures Errors Failures Skipped Incomplete"
).split()


def from_pytest(text: str) -> Counts | None:
    """Read the last summary of pytest, and the failures that it lists."""
    found = _PYTEST.findall(text)
    if not found:
        return Counts(0, 0, 0) if _PYTEST_NONE.search(text) else None
    words = _words(found[-1])
    failed = words["failed"] + words["error"] + words["errors"]
    hidden = 0 if failed else sum(re.search(r"\b(failed|errors?)\b", line) is not None for line in found)
    # An expected failure did run; a deselected test was never asked for.
    ran = words["passed"] + failed + words["xfailed"] + words["xpassed"]
    return Counts(ran, failed, words["skipped"], _unique(_PYTEST_NAME, text), hidden=hidden)


def from_unittest(text: str) -> Counts | None:
    """Read the summary of unittest, and the names that `-v` adds."""
    found = _UNITTEST.findall(text)
    if not found:
        return None
    total, _, details = found[-1]
    words = _words(details, r"(?P<word>\w+)=(?P<number>\d+)")
    skipped, failed = words["skipped"], words["failures"] + words["errors"]
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


def from_jest(text: str) -> Counts | None:
    """Read the line `Tests:` of jest or vitest, and jest's verbose lines."""
    found = list(_JEST.finditer(text))
    if not found:
        return None
    words = _words(found[-1][1])
    # A file that cannot be loaded has no failing tests.
    failed = words["failed"] or int([0, *_BROKEN_FILES.findall(text)][-1])
    hidden = 0 if failed else sum("failed" in match[1] for match in found)
    counts = Counts(words["passed"] + failed, failed, words["skipped"] + words["todo"], hidden=hidden)
    return agreeing(counts, tree(text[: found[-1].start()]))


def from_node(text: str) -> Counts | None:
    """Read the summary of `node --test` in both of its formats, and the test names."""
    words = {word: int(number) for word, number in _NODE.findall(text)}
    if not {"tests", "fail", "skipped"} <= {*words}:
        return None
    skipped = words["skipped"] + words.get("todo", 0)
    failed = words["fail"] + words.get("cancelled", 0)
    # A failing todo test is in both numbers.
    counts = Counts(max(words["tests"] - skipped, failed), failed, skipped)
    found = (*_NODE_TAP.findall(text), *_NODE_SPEC.findall(text))
    parents = {*_NODE_PARENT.findall(text)}
    tests = (
        (name, "other" if left_out else _STATES.get(word, "other"))
        for word, name, left_out in found
        if name not in parents
    )
    return named(counts, tests)


def from_ava(text: str) -> Counts | None:
    """Read the summary of ava, after its horizontal rule."""
    at = text.rfind("\n  ─")
    rows = _AVA.findall(text[at:]) if at >= 0 else []
    if not rows:
        return None
    numbers = dict.fromkeys(("passed", "failed", "skipped", "todo"), 0)
    for number, other, word in rows:
        numbers["failed" if other else word or "passed"] += int(number)
    tests = [(name, _STATES.get(mark, "other")) for mark, name in _AVA_NAMED.findall(text[:at])]
    # ava prints the number of passed tests only if none failed.
    passed = numbers["passed"] or sum(state == "passed" for _, state in tests)
    counts = Counts(passed + numbers["failed"], numbers["failed"], numbers["skipped"] + numbers["todo"])
    return agreeing(counts, tests)


def from_uvu(text: str) -> Counts | None:
    """Read the summary of uvu, and the names of failed tests with their files."""
    found = list(_UVU.finditer(text))
    if not found:
        return None
    total, passed, skipped = map(int, found[-1].groups())
    failures: list[str] = []
    file = ""
    for row in _UVU_FAILED.finditer(text):
        file = row[1] or file
        if row[3]:
            failures.append(" > ".join(part for part in (file, row[2], row[3]) if part))
    failed, names = max(total - passed, 0), tuple(dict.fromkeys(failures))
    hidden = 0 if failed else sum(match[1] != match[2] for match in found)
    return Counts(total, failed, skipped, names if len(names) == failed else (), hidden=hidden)


def from_go(text: str) -> Counts | None:
    """Read `go test -v`: one line per test, and one per package at its end."""
    found = _GO.findall(text)
    if not found or not _GO_END.search(text):
        return None
    return counted((name or package, _STATES.get(word, "other")) for word, name, package in found)


def from_go_json(text: str) -> Counts | None:
    """Read `go test -json`; None if a package started and did not end."""
    tests: list[tuple[str, State]] = []
    open_packages: dict[str, bool] = {}
    for event in map(_event, text.splitlines()):
        if event is None:
            continue
        package, test, action = event["Package"], event.get("Test"), event["Action"]
        is_end = action in ("pass", "fail", "skip")
        if test is None:
            open_packages[package] = open_packages.get(package, True) and not is_end
        else:
            open_packages.setdefault(package, True)
            if is_end and "/" not in test:
                tests.append((test, _STATES[action]))
    if not open_packages or any(open_packages.values()):
        return None
    broken = re.findall(_GO_FAIL, text, re.MULTILINE)
    return counted((*tests, *((package, "failed") for package in broken)))


def _event(line: str) -> dict[str, Any] | None:
    if not line.startswith('{"'):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    texts = [event.get("Action"), event.get("Package"), event.get("Test", "")]
    return event if all(isinstance(text, str) for text in texts) else None


def from_ctest(text: str) -> Counts | None:
    """Read the last summary of ctest and its line for each test. Its total leaves out disabled tests."""
    found = list(_CTEST.finditer(text))
    if not found:
        return None
    begun = found[-2].end() if len(found) > 1 else 0
    lines = _CTEST_TEST.findall(text[begun : found[-1].start()])
    skips = ("***Skipped", _CTEST_DISABLED)
    tests = [(name, "other" if word in skips else _STATES.get(word, "failed")) for name, word in lines]
    failed, total = int(found[-1][1]), int(found[-1][2])
    disabled = sum(word == _CTEST_DISABLED for _, word in lines)
    skipped = sum(state == "other" for _, state in tests)
    hidden = 0 if failed else sum(match[1] != "0" for match in found)
    return agreeing(Counts(max(total + disabled - skipped, failed), failed, skipped, hidden=hidden), tests)


def from_prove(text: str) -> Counts | None:
    """Read the summary of Perl's prove; a failure outside the tests counts as one."""
    found = _PROVE.findall(text)
    if not found:
        return None
    ran, result = int(found[-1][0]), found[-1][1]
    failed = sum(map(int, _PROVE_FAILED.findall(text))) or int(result == "FAIL")
    return Counts(max(ran, failed), failed, 0)


def from_phpunit(text: str) -> Counts | None:
    """Read the last summary of PHPUnit."""
    found = _PHPUNIT.findall(text)
    if not found:
        return None
    good, total, details = found[-1]
    words = _words(details, r"(?P<word>[A-Z][a-z]+): (?P<number>\d+)")
    failed, skipped = words["Errors"] + words["Failures"], words["Skipped"] + words["Incomplete"]
    return Counts(max(int(good or total) - skipped, failed), failed, skipped)


def from_plain(text: str) -> Counts | None:
    """Read a line such as `7 passed, 0 failed`, and the failures' names if each failure has one."""
    found = _PLAIN.findall(text)
    if not found:
        return None
    passed, failed, skipped = (int(number or 0) for number in found[-1])
    names = _unique(_PLAIN_NAME, text)
    return Counts(passed + failed, failed, skipped, names if len(names) == failed else ())


def _unique(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pattern.findall(text)))
