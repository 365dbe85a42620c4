"""Record which tests start asbuilt as a process: only such a test proves a required behaviour.

The record is kept in pytest's cache and grows over the sessions of a CI run: a result for each case
(`RESULTS` of `scripts/requirements.py`), and what each session selected, which tells a partial record from a
whole one. With `--inventory`, a session fails if a test of `tests/requirements/entries.txt` did not run or
started nothing. What a fixture of a wider scope starts counts for every test that uses it.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

CACHED: Final = "asbuilt/entries"
SESSIONS: Final = "asbuilt/sessions"
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


class Inventory(Protocol):
    """The required behaviours: `scripts/requirements.py`."""

    def named(self) -> frozenset[str]:
        """Return the tests that are recorded."""

    def compare(self, record: Mapping[str, str]) -> Iterable[str]:
        """Return the problems of a record."""

    def notes(self, record: Mapping[str, str]) -> Iterable[str]:
        """Return what a reader of the record has to know."""

    def extent(self, sessions: Sequence[Mapping[str, Any]]) -> Iterable[str]:
        """Return whether the sessions make a whole record, and what is lacking."""


class Entries:
    """The plugin. An audit hook sees each process that a test starts."""

    def __init__(self, config: pytest.Config, inventory: Inventory) -> None:
        self.config = config
        self.inventory = inventory
        self.record: dict[str, str] = {}
        """What was found in all sessions, for `--inventory`."""
        self.found: dict[str, str] = {}
        self.sessions: list[dict[str, Any]] = []
        """What each session selected, and how it ended."""
        self.left_out: dict[str, str] = {}
        """Cases that were collected and not selected: by the marker `long`, or by the turn of a commit."""
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
        if report.failed:
            self.found[report.nodeid] = "failed"
        elif report.skipped:
            self.found[report.nodeid] = "skipped"
        elif report.when == "call":
            is_entry = (PROPERTY, True) in report.user_properties
            self.found[report.nodeid] = "started" if is_entry else "nothing"

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Collect the tests that exist and do not run here: the long ones, and those of other turns."""
        is_turn = self.config.getoption("--turn", None) is not None
        for item in items:
            if item.get_closest_marker("long"):
                self.left_out[item.nodeid] = "long"
            elif is_turn and item.get_closest_marker("crash"):
                self.left_out[item.nodeid] = "turn"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - of a plugin without types
        """Collect them from a process of the same session."""
        self.left_out |= getattr(node, "workeroutput", {}).get(CACHED, {})

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep all, with those of sessions before, and compare them if wanted."""
        to_parent, cache = getattr(self.config, "workeroutput", None), getattr(self.config, "cache", None)
        if to_parent is not None:
            to_parent[CACHED] = self.left_out
        if to_parent is not None or cache is None:
            return
        named = self.inventory.named()
        found = {**self.left_out, **cache.get(CACHED, {}), **self.found}
        self.record = {case: result for case, result in found.items() if case.partition("[")[0] in named}
        cache.set(CACHED, self.record)
        self.sessions = cache.get(SESSIONS, [])
        if self.found:
            self.sessions.append(self._session(session))
            cache.set(SESSIONS, self.sessions)
        if self.config.getoption("--inventory") and any(self.inventory.compare(self.record)):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _session(self, session: pytest.Session) -> dict[str, Any]:
        """Describe what this session selected, and whether it came to its end."""
        chosen, config = self.config.option, self.config
        is_cut = session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        return {
            "marks": chosen.markexpr,
            "only": [
                *([] if config.args_source is not config.ArgsSource.ARGS else config.args),
                chosen.keyword,
            ],
            "cut off": bool(is_cut or session.shouldstop or session.shouldfail),
            "ran": len(self.found),
            "failed": sum(result == "failed" for result in self.found.values()),
        }

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print notes and problems above pytest's summary."""
        if not self.config.getoption("--inventory"):
            return
        for title, lines in (
            ("record of the tests of required behaviours", self.inventory.extent(self.sessions)),
            ("tests of required behaviours that CI does not run", self.inventory.notes(self.record)),
            ("required behaviours without their proof", self.inventory.compare(self.record)),
        ):
            for number, line in enumerate(lines):
                if not number:
                    terminalreporter.section(title)
                terminalreporter.line(line)


def add_option(parser: pytest.Parser) -> None:
    """Add `--inventory`."""
    says = (
        "fail unless each test that proves a required behaviour started asbuilt, here or in a session before"
    )
    parser.addoption("--inventory", action="store_true", help=says)
