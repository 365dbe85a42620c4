"""Count tests in the report that a runner wrote beside its output: JUnit XML or jest's JSON.

Code that an agent may have changed wrote it, so the input is untrusted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from xml.parsers import expat

from asbuilt.proof.counts.model import Counts, State, counted

MAX_XML: Final = 32_000_000
_PROLOG: Final = re.compile(rb"^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*\?>")
_JEST_STATES: Final[dict[str, State]] = {"passed": "passed", "failed": "failed"}


def from_report(data: bytes) -> Counts | None:
    """Read a report of either kind; None if it is incomplete."""
    return from_jest_json(data) if data.lstrip()[:1] == b"{" else from_junit(data)


def joined(reports: Iterable[bytes]) -> bytes | None:
    """Join several JUnit files, which some runners write per class, into one report; None if there are none.

    An incomplete file makes the whole report incomplete.
    """
    bodies = [_PROLOG.sub(b"", report) for report in reports]
    if not bodies:
        return None
    return b"<testsuites>\n%s\n</testsuites>" % b"\n".join(bodies)


def from_junit(data: bytes) -> Counts | None:
    """Read a JUnit report."""
    reading = _read_junit(data)
    return counted(reading.tests) if reading else None


def failures_in(data: bytes) -> dict[str, tuple[str, str]]:
    """Read the failures of a report: by test name, the message and the full text."""
    if data.lstrip()[:1] == b"{":
        return _failures_of_jest(data)
    reading = _read_junit(data)
    return reading.failures if reading else {}


def _read_junit(data: bytes) -> _Junit | None:
    if len(data) > MAX_XML:
        return None
    reading = _Junit()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    parser.EntityDeclHandler = reading.refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError):
        return None
    return reading


class _Junit:
    def __init__(self) -> None:
        self.tests: list[tuple[str, State]] = []
        self.failures: dict[str, tuple[str, str]] = {}
        self._message: str | None = None
        self._texts: list[str] = []
        self._name = ""
        self._state: State = "passed"
        self._is_missing = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            place, own = attributes.get("classname", ""), attributes.get("name", "")
            self._name = f"{place}::{own}" if place not in ("", own) else own
            # ctest reports a disabled test as neither failed nor skipped, and a missing program as skipped.
            self._state = "other" if attributes.get("status") == "disabled" else "passed"
            self._is_missing = attributes.get("status") == "notrun"
        elif name in ("failure", "error"):
            self._state = "failed"
            self._message, self._texts = attributes.get("message", ""), []
        elif name == "skipped" and self._is_missing:
            self._state = "other" if attributes.get("message", "").startswith("SKIP_") else "failed"
        elif name == "skipped":
            # pytest reports an expected failure as skipped, but it did run.
            self._state = "passed" if attributes.get("type") == "pytest.xfail" else "other"

    def text(self, text: str) -> None:
        if self._message is not None:
            self._texts.append(text)

    def end(self, name: str) -> None:
        if name in ("failure", "error") and self._message is not None:
            body = "".join(self._texts)
            self.failures.setdefault(self._name, (self._message or body, f"{self._message}\n{body}"))
            self._message = None
        if name == "testcase":
            self.tests.append((self._name, self._state))

    def refuse(self, *_: object) -> None:
        """Refuse entities: a few lines of them expand to gigabytes."""
        raise ValueError("a report with entities")


def from_jest_json(data: bytes) -> Counts | None:
    """Read the output of `jest --json`; a file that could not be run counts as a failure."""
    if len(data) > MAX_XML:
        return None
    try:
        report = json.loads(data)
        return counted(_tests_of_jest(report))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _failures_of_jest(data: bytes) -> dict[str, tuple[str, str]]:
    try:
        files = json.loads(data)["testResults"]
        every = [(file, test) for file in files for test in file["assertionResults"]]
        return {
            _name_in_jest(file, test): (message, message)
            for file, test in every
            if (message := "\n".join(test.get("failureMessages") or ()))
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _place_in_jest(file: dict[str, Any]) -> str:
    # The path of the checkout is not part of a name.
    return "/".join(file["name"].split("/")[-2:])


def _name_in_jest(file: dict[str, Any], test: dict[str, Any]) -> str:
    return f"{_place_in_jest(file)}::{' > '.join((*test['ancestorTitles'], test['title']))}"


def _tests_of_jest(report: dict[str, Any]) -> Iterator[tuple[str, State]]:
    for file in report["testResults"]:
        if file["status"] == "failed" and not file["assertionResults"]:
            yield _place_in_jest(file), "failed"
        for test in file["assertionResults"]:
            yield _name_in_jest(file, test), _JEST_STATES.get(test["status"], "other")
