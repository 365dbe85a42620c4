"""Count tests in the output of cargo, go, ctest, Meson, Automake, Google Test, Catch2 and Unity."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from asbuilt.proof.counts.model import Counts, agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.proof.counts.model import State

_CARGO: Final = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE
)
_LIBTEST: Final = re.compile(
    r"^ +Running (?:unittests )?(?P<target>\S+) \(|^ +Doc-tests (?P<doc>\S+)$"
    r"|^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<state>ok|FAILED|ignored)\b",
    re.MULTILINE,
)
_DOC_LINE: Final = re.compile(r" - (.*?) ?\(line \d+\)")
_NEXTEST: Final = re.compile(
    r"^ +Summary \[[^\]]*\] +(?:\d+/)?(\d+) tests? run: (\d+) passed(?: \([^)]*\))?(?:, (\d+) failed)?"
    r"(?:, (\d+) timed out)?(?:, (\d+) skipped)?",
    re.MULTILINE,
)
_GO: Final = re.compile(
    r"^--- (PASS|FAIL|SKIP): (\S+)|^FAIL\t(\S+) \[(?:build|setup) failed\]$", re.MULTILINE
)
_GO_END: Final = re.compile(r"^(?:ok  |FAIL|---|\?   )\t\S+", re.MULTILINE)
_GO_STATES: Final[dict[str, State]] = {"pass": "passed", "fail": "failed", "skip": "other"}
_CTEST: Final = re.compile(r"^\d+% tests passed, (\d+) tests failed out of (\d+)$", re.MULTILINE)
_CTEST_TEST: Final = re.compile(r"^ *\d+/\d+ Test +#\d+: (.+?) \.{2,} *(\S.*?) +[\d.]+ sec", re.MULTILINE)
_CTEST_LEFT_OUT: Final = ("***Skipped", "***Not Run (Disabled)")
_MESON: Final = re.compile(
    r"^Ok: +(\d+)\s*\nExpected Fail: +(\d+)\s*\nFail: +(\d+)\s*\nUnexpected Pass: +(\d+)\s*\n"
    r"Skipped: +(\d+)\s*\nTimeout: +(\d+)\s*$",
    re.MULTILINE,
)
_MESON_TEST: Final = re.compile(
    r"^ *\d+/\d+ (.+?) +(OK|EXPECTEDFAIL|FAIL|UNEXPECTEDPASS|SKIP|TIMEOUT|ERROR|INTERRUPT) +[\d.]+ ?s\b",
    re.MULTILINE,
)
_MESON_STATES: Final[dict[str, State]] = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "other"}
_AUTOMAKE: Final = re.compile(
    r"^# TOTAL: +(\d+)\n# PASS: +(\d+)\n# SKIP: +(\d+)\n# XFAIL: +(\d+)\n# FAIL: +(\d+)\n"
    r"# XPASS: +(\d+)\n# ERROR: +(\d+)$",
    re.MULTILINE,
)
_AUTOMAKE_TEST: Final = re.compile(r"^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S.*)$", re.MULTILINE)
_AUTOMAKE_STATES: Final[dict[str, State]] = {"PASS": "passed", "XFAIL": "passed", "SKIP": "other"}
_GTEST: Final = re.compile(
    r"^\[==========\] (\d+) tests? from \d+ test (?:suites?|cases?) ran\..*\n\[  PASSED  \] (\d+) tests?\.$"
    r"(?:\n\[  SKIPPED \] (\d+) tests?)?",
    re.MULTILINE,
)
_GTEST_TEST: Final = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+) \(\d+ ms\)$", re.MULTILINE)
_GTEST_STATES: Final[dict[str, State]] = {"OK": "passed", "SKIPPED": "other"}
_CATCH: Final = re.compile(
    r"^All tests passed \(\d+ assertions? in (\d+) test cases?\)$"
    r"|^test cases: +(\d+)(?: \| +\d+ passed)?(?: \| +(\d+) failed)?(?: \| +(\d+) skipped)?.*$",
    re.MULTILINE,
)
_UNITY: Final = re.compile(r"^(\d+) Tests (\d+) Failures (\d+) Ignored\s*$", re.MULTILINE)


def from_cargo(text: str) -> Counts | None:
    """Add up the summaries of all test programs, and read the test names."""
    found = _CARGO.findall(text)
    if not found:
        return None
    passed, failed, ignored = (sum(int(row[at]) for row in found) for at in range(3))
    return agreeing(Counts(passed + failed, failed, ignored), _named_by_libtest(text))


def _named_by_libtest(text: str) -> Iterator[tuple[str, State]]:
    place = ""
    for found in _LIBTEST.finditer(text):
        if found["target"]:
            # Unit tests are named by their modules, below the folder of the crate root.
            folder, _, file = found["target"].rpartition("/")
            place = f"{folder}::" if file in ("lib.rs", "main.rs") else f"{found['target']}::"
        elif found["doc"]:
            place = ""
        else:
            # The line number of a doc test changes with every line above it.
            name = _DOC_LINE.sub(r" - \1", found["name"])
            state = found["state"]
            yield place + name, "passed" if state == "ok" else "failed" if state == "FAILED" else "other"


def from_nextest(text: str) -> Counts | None:
    """Read the summary of cargo-nextest."""
    found = _NEXTEST.findall(text)
    if not found:
        return None
    ran, passed, failed, timed_out, skipped = (int(number or 0) for number in found[-1])
    return Counts(max(ran, passed + failed + timed_out), failed + timed_out, skipped)


def from_go(text: str) -> Counts | None:
    """Read `go test -v`: one line per test, and one per package at its end."""
    found = _GO.findall(text)
    if not found or not _GO_END.search(text):
        return None
    return counted((name or package, _GO_STATES[(word or "fail").lower()]) for word, name, package in found)


def from_go_json(text: str) -> Counts | None:
    """Read `go test -json`; None if a package started and did not end."""
    tests: list[tuple[str, State]] = []
    open_packages: dict[str, bool] = {}
    for line in text.splitlines():
        event = _event(line)
        if event is None:
            continue
        package, test, action = event["Package"], event.get("Test"), event["Action"]
        if test is None:
            open_packages[package] = open_packages.get(package, True) and action not in _GO_STATES
        else:
            open_packages.setdefault(package, True)
            if action in _GO_STATES and "/" not in test:
                tests.append((test, _GO_STATES[action]))
    if not open_packages or any(open_packages.values()):
        return None
    broken = re.findall(r"^FAIL\t(\S+) \[(?:build|setup) failed\]$", text, re.MULTILINE)
    return counted((*tests, *((package, "failed") for package in broken)))


def _event(line: str) -> dict[str, Any] | None:
    if not line.startswith('{"'):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    texts = [event.get(key) for key in ("Action", "Package")]
    is_event = all(isinstance(text, str) for text in texts) and isinstance(event.get("Test", ""), str)
    return event if is_event else None


def from_ctest(text: str) -> Counts | None:
    """Read the last summary of ctest and its line for each test. Its total leaves out disabled tests."""
    found = list(_CTEST.finditer(text))
    if not found:
        return None
    begun = found[-2].end() if len(found) > 1 else 0
    lines = _CTEST_TEST.findall(text[begun : found[-1].start()])
    tests = [(name, _ctest_state(word)) for name, word in lines]
    failed, total = int(found[-1][1]), int(found[-1][2])
    disabled = sum(word == _CTEST_LEFT_OUT[-1] for _, word in lines)
    skipped = sum(state == "other" for _, state in tests)
    hidden = 0 if failed else sum(one[1] != "0" for one in found)
    ran = max(total + disabled - skipped, failed)
    return agreeing(Counts(ran, failed, skipped, hidden=hidden), tests)


def _ctest_state(word: str) -> State:
    return "passed" if word == "Passed" else "other" if word in _CTEST_LEFT_OUT else "failed"


def from_meson(text: str) -> Counts | None:
    """Read the summary of Meson and its line for each test."""
    found = list(_MESON.finditer(text))
    if not found:
        return None
    good, expected, bad, unexpected, skipped, timed_out = map(int, found[-1].groups())
    failed = bad + unexpected + timed_out
    tests = _MESON_TEST.findall(text[: found[-1].start()])
    states = ((name, _MESON_STATES.get(word, "failed")) for name, word in tests)
    return agreeing(Counts(good + expected + failed, failed, skipped), states)


def from_automake(text: str) -> Counts | None:
    """Add up the summaries of `make check`, one for each folder with tests."""
    found = _AUTOMAKE.findall(text)
    if not found:
        return None
    _, good, skipped, expected, bad, unexpected, errors = (
        sum(map(int, one)) for one in zip(*found, strict=True)
    )
    failed = bad + unexpected + errors
    tests = ((name, _AUTOMAKE_STATES.get(word, "failed")) for word, name in _AUTOMAKE_TEST.findall(text))
    return agreeing(Counts(good + expected + failed, failed, skipped), tests)


def from_gtest(text: str) -> Counts | None:
    """Add up the summaries of Google Test programs."""
    found = _GTEST.findall(text)
    if not found:
        return None
    total, passed, skipped = (sum(int(row[at] or 0) for row in found) for at in range(3))
    ran = max(total - skipped, passed)
    tests = ((name, _GTEST_STATES.get(word, "failed")) for word, name in _GTEST_TEST.findall(text))
    return agreeing(Counts(ran, ran - passed, skipped), tests)


def from_catch(text: str) -> Counts | None:
    """Add up the test cases of Catch2 programs."""
    found = _CATCH.findall(text)
    if not found:
        return None
    good, total, failed, skipped = (sum(int(row[at] or 0) for row in found) for at in range(4))
    return Counts(max(good + total - skipped, failed), failed, skipped)


def from_unity(text: str) -> Counts | None:
    """Add up the summaries of Unity programs."""
    found = _UNITY.findall(text)
    if not found:
        return None
    total, failed, ignored = (sum(int(row[at]) for row in found) for at in range(3))
    return Counts(max(total - ignored, failed), failed, ignored)
