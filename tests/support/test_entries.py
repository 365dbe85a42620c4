from __future__ import annotations

import pytest

from tests.support.entries import PROPERTY, starts_asbuilt


@pytest.mark.parametrize(
    ("argv", "is_entry"),
    [
        (["/opt/bin/asbuilt", "status"], True),
        (["python", "-I", "-m", "asbuilt", "plan", "show"], True),
        (["python", "-I", "-S", "/lib/asbuilt/hook/main.py", "Stop"], True),
        (["python", "-c", "from asbuilt.hook.on_path import main; main()"], True),
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

def pytest_addoption(parser): add_option(parser)

def pytest_configure(config):
    needed = ("pure", "by_command")
    compare = lambda found: [one for one in needed if not found.get(f"test_it.py::test_{one}")]
    config.pluginmanager.register(Entries(config, compare))
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
"""


def test_a_planted_pure_test_is_told_from_one_that_starts_the_command(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(PLANTED)
    reports = pytester.inline_run("-q").getreports("pytest_runtest_logreport")
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
    alone = pytester.runpytest_inprocess("--inventory", "-k", "test_pure")
    assert alone.ret == pytest.ExitCode.TESTS_FAILED
    alone.stdout.fnmatch_lines(
        ["*required behaviours without their proof*", "pure", "by_command", "*2 passed*"]
    )
    assert pytester.runpytest_inprocess("-k", "by_command").ret == pytest.ExitCode.OK
    later = pytester.runpytest_inprocess("--inventory", "-k", "test_pure")
    later.stdout.fnmatch_lines(["*required behaviours without their proof*", "pure", "*2 passed*"])
    later.stdout.no_fnmatch_line("by_command")
