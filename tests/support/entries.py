"""Record which tests start asbuilt as a process: only such a test proves a required behaviour.

The result is kept in pytest's cache and grows over the sessions of a CI run. With `--inventory`, the last
session fails if a test of `tests/requirements/entries.txt` did not run or started nothing. What a fixture of
a wider scope starts counts for every test that uses it.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

CACHED: Final = "asbuilt/entries"
PROPERTY: Final = "starts asbuilt"
_ENTRY: Final = re.compile(
    r"(^|[\s/'\"])asbuilt(-hook)?($|[\s.'\"])|from asbuilt\b|^tests\.(journeys\.worker|crash\.nursery)$"
)
"""`tests.journeys.worker` is a whole worker; the test has only put its home and its store elsewhere.
The nursery forks such workers.
"""
_HOOK: Final = "asbuilt/hook/main.py"
_AFTER: Final = ("-m", "-c")
"""Options of an interpreter or a shell whose value is the program."""


def starts_asbuilt(argv: Sequence[str]) -> bool:
    """Whether a command line starts asbuilt, its hook, or a shell line with either."""
    program, *arguments = argv
    if Path(program).name.startswith(("asbuilt", "tmux", "script", "claude")):
        return True
    if any(argument.endswith(_HOOK) for argument in arguments):
        return True
    return any(_ENTRY.search(value) is not None for option, value in pairwise(arguments) if option in _AFTER)


class Entries:
    """The plugin. An audit hook sees each process that a test starts."""

    def __init__(self, config: pytest.Config, compare: Callable[[Mapping[str, bool]], Iterable[str]]) -> None:
        self.config = config
        self.compare = compare
        """Names the problems of what was found, for `--inventory`."""
        self.problems: list[str] = []
        self.found: dict[str, bool] = {}
        self.started = False
        self.fixtures: set[str] = set()
        sys.addaudithook(self._audit)

    def _audit(self, event: str, details: tuple[object, ...]) -> None:
        if event in {"subprocess.Popen", "os.posix_spawn", "os.exec"} and not self.started:
            argv = details[1]
            if isinstance(argv, str | bytes):
                argv = ["sh", "-c", argv]
            self.started = starts_asbuilt([os.fsdecode(one) for one in argv])  # type: ignore[attr-defined]  # a sequence

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Attribute what a fixture of a wider scope starts to the fixture."""
        before, self.started = self.started, False
        try:
            return (yield)
        finally:
            if self.started and fixturedef.scope != "function":
                self.fixtures.add(fixturedef.argname)
            self.started = before or self.started

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """Start with nothing for each test."""
        self.started = False
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Say with the test's report whether it started asbuilt."""
        try:
            return (yield)
        finally:
            names = set(getattr(item, "fixturenames", ()))
            item.user_properties.append((PROPERTY, self.started or bool(names & self.fixtures)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the reports, also those of other processes of the same session."""
        for name, value in report.user_properties:
            if name == PROPERTY and report.when == "call" and report.passed:
                test = report.nodeid.partition("[")[0]
                self.found[test] = bool(value) or self.found.get(test, False)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep them, with those of sessions before, and compare them if wanted."""
        if hasattr(self.config, "workerinput") or self.config.cache is None:
            return
        found = {**self.config.cache.get(CACHED, {}), **self.found}
        self.config.cache.set(CACHED, found)
        if self.config.getoption("--inventory"):
            self.problems = list(self.compare(found))
            if self.problems:
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the problems above pytest's summary."""
        if self.problems:
            terminalreporter.section("required behaviours without their proof")
            for problem in self.problems:
                terminalreporter.line(problem)


def add_option(parser: pytest.Parser) -> None:
    """Add `--inventory`."""
    says = (
        "fail unless each test that proves a required behaviour started asbuilt, here or in a session before"
    )
    parser.addoption("--inventory", action="store_true", help=says)
