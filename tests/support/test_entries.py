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
    pytester.makeconftest(
        "from tests.support.entries import Entries\n"
        "def pytest_configure(config): config.pluginmanager.register(Entries(config))\n"
    )
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
