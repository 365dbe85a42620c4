from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.entries import CACHED, PROPERTY, starts_asbuilt


@pytest.mark.parametrize(
    ("argv", "is_entry"),
    [
        (["/opt/bin/asbuilt", "status"], True),
        (["python", "-I", "-m", "asbuilt", "plan", "show"], True),
        (["python", "-I", "-S", "/lib/asbuilt/hook/main.py", "Stop"], True),
        (["python", "-c", "from asbuilt.hook.plugin_entry import main; main()"], True),
        (["sh", "-c", "cd shop && asbuilt run rate-limit"], True),
        (["python", "-m", "tests.journeys.worker", "home", "journal.db"], True),
        (["python", "-m", "tests.races.games", "claim"], False),
        (["git", "-C", "/home/me/asbuilt", "status"], False),
        (["python", "-m", "pytest", "tests/asbuilt"], False),
        (["/home/me/asbuilt/.venv/bin/python", "app.py"], False),
    ],
)
def test_only_asbuilt_as_a_program_is_an_entry_point(argv: list[str], is_entry: bool) -> None:  # noqa: FBT001
    assert starts_asbuilt(argv) is is_entry


CONFTEST = """
from tests.support.entries import Entries, add_option

class Inventory:
    def named(self):
        return {f"test_it.py::test_{one}" for one in ("pure", "by_command", "at_length", "without")}

    def compare(self, record):
        return [test for test in sorted(self.named()) if record.get(test) in (None, "nothing")]

    def notes(self, record):
        return [f"{test} {record[test]}" for test in sorted(record) if record[test] in ("long", "skipped")]

    def extent(self, sessions):
        return [f"only {one['only']}: {one['ran']}, cut off: {one['cut off']}" for one in sessions]

def pytest_addoption(parser): add_option(parser)

def pytest_configure(config):
    config.addinivalue_line("markers", "long: left out")
    config.pluginmanager.register(Entries(config, Inventory()))
"""
PLANTED = """
import subprocess, sys
import pytest

@pytest.fixture(scope="module")
def shown():
    return subprocess.run([sys.executable, "-m", "asbuilt", "--version"], check=True)

def test_pure():
    subprocess.run([sys.executable, "-c", "print()"], check=True)

def test_by_command():
    subprocess.run([sys.executable, "-m", "asbuilt", "--version"], check=True)

def test_by_fixture(shown):
    assert shown.returncode == 0

def test_pure_after_them():
    assert True

@pytest.mark.long
def test_at_length():
    subprocess.run([sys.executable, "-m", "asbuilt", "--version"], check=True)

@pytest.mark.skip(reason="not here")
def test_without():
    assert False
"""


def test_a_planted_pure_test_is_told_from_one_that_starts_the_command(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(PLANTED)
    reports = pytester.inline_run("-q", "-m", "not long").getreports("pytest_runtest_logreport")
    found = {
        report.nodeid.rpartition("::")[2]: dict(report.user_properties)[PROPERTY]
        for report in reports
        if report.when == "call"
    }
    assert found == {
        "test_pure": False,
        "test_by_command": True,
        "test_by_fixture": True,
        "test_pure_after_them": False,
    }


def test_the_last_session_fails_over_a_listed_test_that_started_nothing_or_did_not_run(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=PLANTED)
    title = "*required behaviours without their proof*"
    alone = pytester.runpytest_inprocess("--inventory", "-k", "test_pure")
    assert alone.ret == pytest.ExitCode.TESTS_FAILED
    alone.stdout.fnmatch_lines(
        [title, *(f"test_it.py::test_{one}" for one in ("by_command", "pure", "without")), "*2 passed*"]
    )
    assert pytester.runpytest_inprocess("-k", "by_command or without").ret == pytest.ExitCode.OK
    later = pytester.runpytest_inprocess("--inventory", "-k", "test_pure")
    later.stdout.fnmatch_lines([title, "test_it.py::test_pure", "*2 passed*"])
    later.stdout.no_fnmatch_line("test_it.py::test_by_command*")


def test_the_record_says_what_each_session_selected_and_what_it_left_out(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=PLANTED)
    pytester.runpytest_inprocess("--collect-only")
    pytester.runpytest_inprocess("test_it.py", "-k", "test_pure")
    shown = pytester.runpytest_inprocess("--inventory", "-x", "-m", "not long")
    shown.stdout.fnmatch_lines(
        [
            "*record of the tests of required behaviours*",
            "only [[]'test_it.py', 'test_pure'[]]: 2, cut off: False",
            "only [[]''[]]: 5, cut off: False",
            "*that CI does not run*",
            "test_it.py::test_at_length long",
            "test_it.py::test_without skipped",
        ]
    )
    pytester.makepyfile(test_it=PLANTED.replace("assert shown.returncode == 0", "assert False"))
    cut = pytester.runpytest_inprocess("--inventory", "-x", "-m", "not long")
    cut.stdout.fnmatch_lines(["only [[]''[]]: 3, cut off: True"])


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_long_test_that_is_left_out_is_named_until_it_was_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, processes: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=PLANTED)
    short = pytester.runpytest_subprocess("--inventory", "-n", processes, "-m", "not long")
    short.stdout.fnmatch_lines(
        ["*that CI does not run*", "test_it.py::test_at_length long", "test_it.py::test_without skipped"]
    )
    assert pytester.runpytest_subprocess("-n", processes, "-m", "long").ret == pytest.ExitCode.OK
    again = pytester.runpytest_subprocess("--inventory", "-n", processes, "-m", "not long")
    again.stdout.fnmatch_lines(["*that CI does not run*", "test_it.py::test_without skipped"])
    again.stdout.no_fnmatch_line("test_it.py::test_at_length long")


def test_a_journey_that_waits_for_its_turn_is_no_absent_one(pytester: pytest.Pytester) -> None:
    taking_turns = """
def pytest_addoption(parser):
    add_option(parser)
    parser.addoption("--turn", type=int)

def pytest_collection_modifyitems(config, items):
    if config.getoption("--turn") is not None:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("crash")])
        items[:] = [item for item in items if not item.get_closest_marker("crash")]
"""
    conftest = CONFTEST.replace("def pytest_addoption(parser): add_option(parser)", taking_turns)
    pytester.makeconftest(conftest.replace("long: left out", "crash: whole runs"))
    pytester.makepyfile(test_it=PLANTED.replace("pytest.mark.long", "pytest.mark.crash"))
    for options, result in (((), "absent"), (("--turn", "1"), "turn")):
        pytester.runpytest_inprocess("--inventory", "-m", "not crash" if not options else "", *options)
        record = json.loads((pytester.path / ".pytest_cache/v" / CACHED).read_text(encoding="utf-8"))
        assert record.get("test_it.py::test_at_length", "absent") == result
