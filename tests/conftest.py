"""Settings for every test: how many examples a property is tried on, and golden files."""

from __future__ import annotations

import os
import signal
from difflib import unified_diff
from typing import TYPE_CHECKING, Protocol

import pytest
from hypothesis import HealthCheck, settings

from tests.docs.scripts import script
from tests.support.entries import Entries, add_option
from tests.support.slices import every_other, in_turn, sliced

if TYPE_CHECKING:
    from pathlib import Path

# `just check` tries 100 examples and `just ci` 200, always the same ones, so that a failure can be repeated.
# `just hunt` tries 10,000 random ones; what it finds becomes a case or an example.
for name, examples, by_chance in (("check", 100, False), ("ci", 200, False), ("hunt", 10_000, True)):
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=not by_chance,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "check"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write golden files again instead of comparing")
    parser.addoption("--whole", action="store_true", help="every case of every matrix, not a slice of each")
    parser.addoption("--turn", type=int, help="a part of the journeys and of the real projects, as CI takes")
    add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts its background jobs with these ignored, and processes that tests start would inherit it.
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    config.pluginmanager.register(Entries(config, script("requirements")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave cases of journeys out that repeat a test on other parts, and with --turn more; say so."""
    if config.getoption("--whole") or "::" in " ".join(config.args):
        return
    journeys = [item for item in items if item.get_closest_marker("crash")]
    cases = sliced(journeys)
    turn = config.getoption("--turn")
    chosen = {*(cases if turn is None else in_turn(cases, turn, script("requirements").named()))}
    projects = [item for item in items if item.get_closest_marker("real") and "[" in item.name]
    chosen |= {*(projects if turn is None else every_other(projects, turn))}
    left_out = [item for item in (*journeys, *projects) if item not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in {*left_out}]


class Golden(Protocol):
    def __call__(self, file: Path, text: str) -> None: ...


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with a file; with --record, write it."""

    def compare(file: Path, text: str) -> None:
        if request.config.getoption("--record"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        before = file.read_text() if file.exists() else ""
        if text != before:
            lines = unified_diff(before.splitlines(), text.splitlines(), file.name, "now", lineterm="")
            pytest.fail("\n".join([*lines, "", "--record writes it again"]), pytrace=False)

    return compare
