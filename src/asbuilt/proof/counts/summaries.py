"""Summaries that runners print in one fixed form: a table of patterns, and one reader for all of them.

Groups of a pattern are numbers, named `total`, `ran`, `passed`, `failed` and `skipped`. Groups that start
with the same word, as `failed` and `failed_errors`, are added up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from asbuilt.proof.counts.model import Counts, State, agreeing, counted

Tests = Callable[[str], Iterator[tuple[str, State]]]

_LIBTEST: Final = re.compile(
    r"(?m)^ +Running (?:unittests )?(?P<target>\S+) \(|^ +Doc-tests (?P<doc>\S+)$"
    r"|^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<state>ok|FAILED|ignored)\b"
)
_DOC_LINE: Final = re.compile(r" - (.*?) ?\(line \d+\)")
_FILE: Final = re.compile(r"^(?:PASS|FAIL) (?:\[[^\]]+\] )?(\S+)")
_TREE: Final = re.compile(
    r"^( +)(?:(?P<passed>[✔✓√])|(?P<failed>[✕✖×]|\d+\))|(?P<other>○(?: skipped)?|✎ todo|-)) "
    r"(.+?)(?: \([\d.]+ ?m?s\))?$"
    r"|^( +)(\S.*)$"
)
_INDENT: Final = 2
_POINT: Final = re.compile(r"^( *)(not )?ok(?: +\d+)?(?: +- | +|$)(.*)$")
_DIRECTIVE: Final = re.compile(r"(?i)(?<!\\)# *(?:skip|todo)\b.*$")
_PLAN: Final = re.compile(r"^1\.\.(\d+)(?:\s+#.*)?$")
_SUBTEST: Final = re.compile(r"^( *)# Subtest(?:: (.*))?$")
_TIME: Final = re.compile(r" *# time=\S+(?: *\{)?$")
_NESTED: Final = 4


class Summary(NamedTuple):
    """How a runner sums up its tests."""

    pattern: str
    adds_up: bool = True
    """True: it prints one summary for each part, and all of them count; otherwise the last one counts."""
    tests: Tests | None = None
    """Reads the tests with their names: before the last summary, or from everything if parts add up."""
    hides: bool = False
    """True: an earlier summary with failures counts as hidden."""

    def read(self, text: str) -> Counts | None:
        """Read the summary; None if there is none."""
        found = [*re.finditer(self.pattern, text, re.MULTILINE)]
        if not found:
            return None
        used = found if self.adds_up else found[-1:]
        total, ran, passed, failed, skipped = (
            sum(_number(match, kind) for match in used)
            for kind in ("total", "ran", "passed", "failed", "skipped")
        )
        ran = max(ran, total - skipped, passed + failed)
        if "failed" not in found[0].re.groupindex:
            failed = ran - passed
        hidden = sum(_number(match, "failed") > 0 for match in found) if self.hides and not failed else 0
        counts = Counts(ran, failed, skipped, hidden=hidden)
        before = text if self.adds_up else text[: found[-1].start()]
        return agreeing(counts, self.tests(before)) if self.tests else counts


def _number(found: re.Match[str], kind: str) -> int:
    return sum(int(number or 0) for name, number in found.groupdict().items() if name.startswith(kind))


def lines(pattern: str, passed: str, other: str) -> Tests:
    """Return a reader of one line for each test: its `name`, and the word for its `state`.

    Any word but those for passed and other tests is a failure.
    """
    states: dict[str, State] = {**dict.fromkeys(passed.split(), "passed"), other: "other"}

    def tests(text: str) -> Iterator[tuple[str, State]]:
        found = re.finditer(pattern, text, re.MULTILINE)
        return ((match["name"], states.get(match["state"], "failed")) for match in found)

    return tests


def _libtest(text: str) -> Iterator[tuple[str, State]]:
    states: dict[str, State] = {"ok": "passed", "FAILED": "failed"}
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
            yield place + _DOC_LINE.sub(r" - \1", found["name"]), states.get(found["state"], "other")


def tree(text: str) -> Iterator[tuple[str, State]]:
    """Yield the tests of jest and mocha with the titles around them, from the indentation."""
    above: list[str] = []
    file = ""
    for line in text.splitlines():
        if of_file := _FILE.match(line):
            file, above = of_file[1], []
            continue
        found = _TREE.match(line)
        if found is None:
            continue
        title, depth = found[7], len(found[1] or found[6]) // _INDENT - 1
        if title is not None:
            # A test's own output is rarely as deep as the next title would be.
            above = [*above[:depth], title] if depth <= len(above) else above
            continue
        names = (*([file] if file else []), *above[:depth], found[5])
        state: State = "passed" if found["passed"] else "failed" if found["failed"] else "other"
        yield " > ".join(names), state


RSPEC: Final = Summary(
    r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"
    r"(?:, (?P<failed_errors>\d+) error.*)?$",
    adds_up=False,
)
MOCHA: Final = Summary(
    r"^  (?P<passed>\d+) passing \([^)]+\)(?:\n  (?P<skipped>\d+) pending)?(?:\n  (?P<failed>\d+) failing)?$",
    adds_up=False,
    tests=tree,
    hides=True,
)
MESON: Final = Summary(
    r"^Ok: +(?P<passed>\d+)\s*\nExpected Fail: +(?P<passed_expected>\d+)\s*\nFail: +(?P<failed>\d+)\s*\n"
    r"Unexpected Pass: +(?P<failed_unexpected>\d+)\s*\nSkipped: +(?P<skipped>\d+)\s*\n"
    r"Timeout: +(?P<failed_timeout>\d+)\s*$",
    adds_up=False,
    tests=lines(
        r"^ *\d+/\d+ (?P<name>.+?) +"
        r"(?P<state>OK|EXPECTEDFAIL|FAIL|UNEXPECTEDPASS|SKIP|TIMEOUT|ERROR|INTERRUPT) +[\d.]+ ?s\b",
        "OK EXPECTEDFAIL",
        "SKIP",
    ),
)
NEXTEST: Final = Summary(
    r"^ +Summary \[[^\]]*\] +(?:\d+/)?(?P<ran>\d+) tests? run: (?P<passed>\d+) passed(?: \([^)]*\))?"
    r"(?:, (?P<failed>\d+) failed)?(?:, (?P<failed_timeout>\d+) timed out)?(?:, (?P<skipped>\d+) skipped)?",
    adds_up=False,
)
CARGO: Final = Summary(
    r"^test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;"
    r" (?P<skipped>\d+) ignored;",
    tests=_libtest,
)
SUREFIRE: Final = Summary(
    # The lines for single classes end with a time.
    r"^(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+),"
    r" Errors: (?P<failed_errors>\d+), Skipped: (?P<skipped>\d+)$"
)
GRADLE: Final = Summary(
    # It prints a line only for tasks with a failed test.
    r"^(?P<total>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?$"
)
DOTNET: Final = Summary(
    r"^(?:Passed|Failed)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+), Skipped: +(?P<skipped>\d+),"
    r" Total: +\d+"
)
AUTOMAKE: Final = Summary(
    r"^# TOTAL: +\d+\n# PASS: +(?P<passed>\d+)\n# SKIP: +(?P<skipped>\d+)\n# XFAIL: +(?P<passed_x>\d+)\n"
    r"# FAIL: +(?P<failed>\d+)\n# XPASS: +(?P<failed_unexpected>\d+)\n# ERROR: +(?P<failed_errors>\d+)$",
    tests=lines(
        r"^(?P<state>PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (?P<name>\S.*)$", passed="PASS XFAIL", other="SKIP"
    ),
)
GTEST: Final = Summary(
    r"^\[==========\] (?P<total>\d+) tests? from \d+ test (?:suites?|cases?) ran\..*\n"
    r"\[  PASSED  \] (?P<passed>\d+) tests?\.$(?:\n\[  SKIPPED \] (?P<skipped>\d+) tests?)?",
    tests=lines(
        r"^\[ +(?P<state>OK|FAILED|SKIPPED) +\] (?P<name>\S+) \(\d+ ms\)$", passed="OK", other="SKIPPED"
    ),
)
CATCH: Final = Summary(
    r"^All tests passed \(\d+ assertions? in (?P<total>\d+) test cases?\)$|^test cases: +(?P<total_mixed>\d+)"
    r"(?: \| +\d+ passed)?(?: \| +(?P<failed>\d+) failed)?(?: \| +(?P<skipped>\d+) skipped)?.*$"
)
UNITY: Final = Summary(r"^(?P<total>\d+) Tests (?P<failed>\d+) Failures (?P<skipped>\d+) Ignored\s*$")


class _Reading:
    """State of a stream, line by line."""

    def __init__(self) -> None:
        self.tests: list[tuple[str, State]] = []
        self.plans = 0
        self.is_broken = False
        self._planned: int | None = None
        self._points = 0
        self.above: list[str] = []
        self._within: dict[int, bool] = {}
        """By depth: whether all points there passed since the last point above; no key if there were none."""

    def plan(self, number: int) -> None:
        if self._planned is not None:
            self.is_broken = True
        elif self._points:
            self.is_broken |= number != self._points
            self._close()
        elif number:
            self._planned = number
        else:
            self.tests.append(("", "other"))
            self.plans += 1

    def point(self, depth: int, name: str, state: State) -> None:
        below = self._within.pop(depth + 1, None)
        self._within = {at: good for at, good in self._within.items() if at <= depth}
        # A point after nested points sums them up; it is a failure of its own only if all of them passed.
        if below is None or (state == "failed" and below):
            self.tests.append((" > ".join((*self.above[:depth], name)), state))
        self._within[depth] = self._within.get(depth, True) and state != "failed"
        if depth == 0:
            self._within.clear()
            self.above.clear()
            self._points += 1
            if self._points == self._planned:
                self._close()

    @property
    def is_whole(self) -> bool:
        return bool(self.plans) and not self.is_broken and self._planned is None and not self._points

    def _close(self) -> None:
        self.plans += 1
        self._planned, self._points = None, 0


def from_tap(text: str) -> Counts | None:
    """Count the leaves of every stream; None if a stream's number of points differs from its plan."""
    reading = _Reading()
    block: str | None = None
    for line in text.splitlines():
        if block is not None:
            block = None if line == f"{block}..." else block
        elif line.strip() == "---":
            block = line[: -len("---")]
        elif line.startswith("Bail out!"):
            return None
        elif found := _PLAN.match(line):
            reading.plan(int(found[1]))
        elif found := _SUBTEST.match(line):
            reading.above[len(found[1]) // _NESTED :] = [found[2] or ""]
        elif (found := _POINT.match(line)) and len(found[1]) % _NESTED == 0:
            name = _DIRECTIVE.sub("", found[3])
            state: State = "other" if name != found[3] else "failed" if found[2] else "passed"
            reading.point(len(found[1]) // _NESTED, _TIME.sub("", name).strip(), state)
    return counted(reading.tests) if reading.is_whole else None
