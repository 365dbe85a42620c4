"""How many tests ran, read from what a runner printed or wrote. A summary that is not whole is no summary."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Final, NamedTuple
from xml.parsers import expat

MAX_XML: Final = 32_000_000
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PYTEST: Final = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s(?: \([\d:]+\))?\s*=*$", re.MULTILINE)
_PYTEST_NONE: Final = re.compile(r"^=*\s*no tests ran in [\d.]+s\s*=*$", re.MULTILINE)
_UNITTEST: Final = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s\s*\n+(OK|FAILED|NO TESTS RAN)(?: \(([^)]*)\))?\s*$", re.MULTILINE
)
_UNITTEST_BEGUN: Final = re.compile(r"(?<!\w)(\w+) \(([\w.]+)\)(?:\n[^\n]*)? \.\.\. ")
_UNITTEST_ENDED: Final = re.compile(
    r"(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$", re.MULTILINE
)
_NODE_NAMED: Final = re.compile(r"^\s*(ok|not ok) \d+ - (.+?)( # (?:SKIP|TODO).*)?$", re.MULTILINE)
_NODE_SPEC: Final = re.compile(r"^\s*(✔|✖|﹣) (.+?) \([\d.]+ms\)( # (?:SKIP|TODO).*)?$", re.MULTILINE)
_JEST: Final = re.compile(
    r"^\s*Tests:?\s+((?:\d+ [a-z]+(?:,| \|)? ?)+)(?:\((\d+)\)|,? ?(\d+) total)?\s*$", re.MULTILINE
)
_CARGO: Final = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE
)
_NODE: Final = re.compile(r"^(?:#|ℹ) (tests|pass|fail|skipped|cancelled|todo) (\d+)$", re.MULTILINE)
_AS_TAP: Final = {"✔": "ok", "✖": "not ok"}
_GO: Final = re.compile(r"^--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
_GO_END: Final = re.compile(r"^(?:ok  |FAIL|---|\?   )\t\S+", re.MULTILINE)
_RSPEC: Final = re.compile(
    r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) error.*)?$", re.MULTILINE
)
_MOCHA: Final = re.compile(
    r"^  (\d+) passing \([^)]+\)(?:\n  (\d+) pending)?(?:\n  (\d+) failing)?$", re.MULTILINE
)
_PLAIN: Final = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
_FAILED_NAME: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


_Readers = tuple[Callable[[str], "Counts | None"], ...]


class Counts(NamedTuple):
    """The tests of one run."""

    ran: int
    failed: int
    skipped: int
    failures: tuple[str, ...] = ()
    """Names of those that failed, where the runner tells them."""
    passed: tuple[str, ...] = ()
    """Names of those that passed, where it tells them."""
    hidden: int = 0
    """Failures that an earlier summary in the same output tells of, and the last one does not."""
    others: tuple[str, ...] = ()
    """Names of those that were skipped, or failed as they were expected to."""

    @property
    def names(self) -> frozenset[str]:
        """Return every name that was told, of one with parameters without them."""
        every = (*self.failures, *self.passed, *self.others)
        return frozenset(name.partition("[")[0] for name in every)

    @property
    def ran_names(self) -> frozenset[str]:
        """Return every name that was told of a test that ran to its end."""
        return frozenset(name.partition("[")[0] for name in (*self.failures, *self.passed))

    @property
    def collected(self) -> int:
        """Return how many there were, run or not."""
        return self.ran + self.skipped


def from_output(text: str, *, cut: bool = False) -> Counts | None:
    """Read the last whole summary that a known runner printed; None when there is none.

    Runners that sum up only a part at a time are not counted where the output was cut: parts may be missing.
    """
    plain = _ANSI.sub("", text)
    in_parts: _Readers = () if cut else (_from_cargo, _from_go)
    whole: _Readers = (_from_pytest, _from_unittest, _from_jest, _from_node, _from_rspec, _from_mocha)
    for read in (*whole, *in_parts, _from_plain):
        counts = read(plain)
        if counts is not None:
            return counts
    return None


def _from_pytest(text: str) -> Counts | None:
    found = _PYTEST.findall(text)
    if not found:
        return Counts(0, 0, 0) if _PYTEST_NONE.search(text) else None
    words = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", found[-1])}
    failed = words.get("failed", 0) + words.get("error", 0) + words.get("errors", 0)
    hidden = 0 if failed else sum(re.search(r"\b(failed|errors?)\b", one) is not None for one in found)
    # A test that was expected to fail did run; one that was deselected was never asked for.
    ran = words.get("passed", 0) + failed + words.get("xfailed", 0) + words.get("xpassed", 0)
    names = tuple(dict.fromkeys(_FAILED_NAME.findall(text)))
    return Counts(ran, failed, words.get("skipped", 0), names, hidden=hidden)


def _from_unittest(text: str) -> Counts | None:
    found = _UNITTEST.findall(text)
    if not found:
        return None
    total, _, details = found[-1]
    words = {word: int(number) for word, number in re.findall(r"(\w+)=(\d+)", details)}
    skipped, failed = words.get("skipped", 0), words.get("failures", 0) + words.get("errors", 0)
    hidden = 0 if failed else sum(word == "FAILED" for _, word, _ in found)
    counts = Counts(int(total) - skipped, failed, skipped, hidden=hidden)
    return _named(counts, _told_by_unittest(text), "ok", ("FAIL", "ERROR"))


def _told_by_unittest(text: str) -> dict[str, str]:
    """Read what `-v` tells of each test, whatever it printed meanwhile; one without an end did not end."""
    begun = list(_UNITTEST_BEGUN.finditer(text))
    told = {}
    for one, later in zip_longest(begun, begun[1:]):
        meanwhile = text[one.end() : later.start() if later else len(text)]
        ended = _UNITTEST_ENDED.search(meanwhile.partition("\n-----")[0].partition("\n=====")[0])
        if ended is not None:
            # Before 3.11 its place lacks its own name.
            name, place = one.groups()
            told[place if place.rpartition(".")[2] == name else f"{place}.{name}"] = ended[1]
    return told


def _named(counts: Counts, told: Mapping[str, str], passed: str, failed: tuple[str, ...]) -> Counts:
    """Add the names of tests, by the word with which their runner ends each."""
    return counts._replace(
        failures=tuple(name for name, word in told.items() if word in failed),
        passed=tuple(name for name, word in told.items() if word == passed),
        others=tuple(name for name, word in told.items() if word != passed and word not in failed),
    )


def _from_cargo(text: str) -> Counts | None:
    found = _CARGO.findall(text)
    if not found:
        return None
    passed, failed, ignored = (sum(int(row[at]) for row in found) for at in range(3))
    return Counts(passed + failed, failed, ignored)


def _from_jest(text: str) -> Counts | None:
    found = _JEST.findall(text)
    if not found:
        return None
    words = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", found[-1][0])}
    failed = words.get("failed", 0)
    return Counts(words.get("passed", 0) + failed, failed, words.get("skipped", 0) + words.get("todo", 0))


def _from_node(text: str) -> Counts | None:
    words = {word: int(number) for word, number in _NODE.findall(text)}
    if "tests" not in words or "fail" not in words:
        return None
    skipped = words.get("skipped", 0) + words.get("todo", 0)
    counts = Counts(words["tests"] - skipped, words["fail"] + words.get("cancelled", 0), skipped)
    told = {
        name: "" if left_out else _AS_TAP.get(word, word)
        for word, name, left_out in (*_NODE_NAMED.findall(text), *_NODE_SPEC.findall(text))
    }
    return _named(counts, told, "ok", ("not ok",))


def _from_go(text: str) -> Counts | None:
    """Read `go test -v`: a line for each test, and one for each package at its end."""
    found = _GO.findall(text)
    if not found or not _GO_END.search(text):
        return None
    failures = tuple(name for word, name in found if word == "FAIL")
    skipped = sum(word == "SKIP" for word, _ in found)
    told = {name: word for word, name in found}
    return _named(Counts(len(found) - skipped, len(failures), skipped), told, "PASS", ("FAIL",))


def _from_rspec(text: str) -> Counts | None:
    found = _RSPEC.findall(text)
    if not found:
        return None
    total, failed, pending, errors = (int(number or 0) for number in found[-1])
    return Counts(total - pending, failed + errors, pending)


def _from_mocha(text: str) -> Counts | None:
    found = _MOCHA.findall(text)
    if not found:
        return None
    passed, pending, failed = (int(number or 0) for number in found[-1])
    return Counts(passed + failed, failed, pending)


def _from_plain(text: str) -> Counts | None:
    found = _PLAIN.findall(text)
    if not found:
        return None
    passed, failed, skipped = (int(number or 0) for number in found[-1])
    return Counts(passed + failed, failed, skipped)


def from_junit(data: bytes) -> Counts | None:
    """Read a JUnit report; code that an agent may have changed wrote it, so it is parsed with care."""
    if len(data) > MAX_XML:
        return None
    reading = _Junit()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.EntityDeclHandler = reading.refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError):
        return None
    ran = len(reading.passed) + len(reading.failures)
    return Counts(
        ran,
        len(reading.failures),
        len(reading.skipped),
        tuple(reading.failures),
        tuple(reading.passed),
        others=tuple(reading.skipped),
    )


class _Junit:
    """What is told of test cases, element by element."""

    def __init__(self) -> None:
        self.skipped: list[str] = []
        self.failures: list[str] = []
        self.passed: list[str] = []
        self._name = ""
        self._state = "passed"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            place = attributes.get("classname", "")
            self._name = f"{place}::{attributes.get('name', '')}" if place else attributes.get("name", "")
            self._state = "passed"
        elif name in ("failure", "error"):
            self._state = "failed"
        elif name == "skipped":
            # An expected failure is written as skipped, and it did run.
            self._state = "passed" if attributes.get("type") == "pytest.xfail" else "skipped"

    def end(self, name: str) -> None:
        if name != "testcase":
            return
        if self._state == "skipped":
            self.skipped.append(self._name)
        elif self._state == "failed":
            self.failures.append(self._name)
        else:
            self.passed.append(self._name)

    def refuse(self, *_: object) -> None:
        """Refuse entities: a few lines of them expand to gigabytes."""
        raise ValueError("a report with entities")
