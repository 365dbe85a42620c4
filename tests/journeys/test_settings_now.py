"""Settings are read when a run starts and again when it continues; each change is an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.journeys.shop import STARTS_ALL
from tests.journeys.test_commands import office

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]

pytestmark = pytest.mark.crash
COUNTED = "sh tests.sh 1"
OTHERS = "sh tests.sh 2"


@pytest.fixture(autouse=True)
def suite(office: Office) -> None:
    """Commit a suite that notices an error in the work, and prints as many tests as it is told."""
    suite = f'{STARTS_ALL}; echo "unit: $1 passed, 0 failed"\n'
    (office.shop / "tests.sh").write_text(suite, encoding="utf-8")
    office.git("add", "tests.sh")
    office.git("commit", "-qm", "a suite", "tests.sh")


def _lines(told: str, *words: str) -> list[str]:
    return [line for line in told.splitlines() if any(word in line for word in words)]


def test_a_run_that_failed_for_its_test_command_continues_with_the_one_that_is_set_now(
    office: Office,
) -> None:
    office.asbuilt("config", "set", "checks.tests", "exit 7")
    failed = office.asbuilt("run", "greet", "--finish", "--auto", "--script", str(office.script))
    assert failed.splitlines()[0] == "exit 1"
    office.asbuilt("config", "set", "checks.tests", COUNTED)
    office.asbuilt("config", "set", "limits.usd", "5")
    resumed = office.asbuilt("run", "greet")
    assert _lines(resumed, "exit 0", "Settings", "BASELINE", "SETTINGS") == snapshot(
        [
            "exit 0",
            "Settings checks.tests is now `sh tests.sh 1`; it was `exit 7`",
            "Settings limits.usd is now 5.0; it was 15.0",
            "[TIME] -   SETTINGS  checks.tests is now `sh tests.sh 1`; it was `exit 7`",
            "[TIME] -   SETTINGS  limits.usd is now 5.0; it was 15.0",
            "[TIME] -   BASELINE  PASS 1 ran, 0 skipped",
        ]
    )
    assert _lines(office.asbuilt("log", "greet"), "settings", "baseline") == snapshot(
        [
            "[TIME]  -   baseline   INDETERMINATE exit 7, and no summary of the tests",
            "[TIME]  -   settings   checks.tests is now `sh tests.sh 1`; it was `exit 7`",
            "[TIME]  -   settings   limits.usd is now 5.0; it was 15.0",
            "[TIME]  -   baseline   PASS 1 ran, 0 skipped",
        ]
    )


def test_a_run_that_waits_takes_another_test_command_and_makes_its_baseline_again(office: Office) -> None:
    office.asbuilt("config", "set", "checks.tests", COUNTED)
    waits = office.asbuilt("run", "greet", "--finish", "--script", str(office.script))
    assert waits.splitlines()[0] == "exit 5"
    office.asbuilt("config", "set", "checks.tests", OTHERS)
    office.asbuilt("config", "set", "checks.setup", "true")
    assert _lines(office.asbuilt("run", "greet"), "exit 5", "Settings ") == snapshot(
        [
            "exit 5",
            "Settings checks.tests is now `sh tests.sh 2`; it was `sh tests.sh 1`",
            "Settings checks.setup is now `true`; it was not set",
        ]
    )
    logged = office.asbuilt("log", "greet")
    assert _lines(logged, "settings", "baseline", "tests", "setup") == snapshot(
        [
            "[TIME]  -   tests      sh tests.sh 1 (configured)",
            "[TIME]  -   setup      PASS no setup is set",
            "[TIME]  -   baseline   PASS 1 ran, 0 skipped",
            "[TIME]  -   settings   checks.tests is now `sh tests.sh 2`; it was `sh",
            "                         tests.sh 1`",
            "[TIME]  -   settings   checks.setup is now `true`; it was not set",
            "[TIME]  -   tests      sh tests.sh 2 (configured)",
            "[TIME]  -   setup      PASS exit 0",
            "[TIME]  -   baseline   PASS 2 ran, 0 skipped",
        ]
    )
    # Nothing has changed since: nothing is said, and nothing is made again.
    assert _lines(office.asbuilt("run", "greet"), "exit 5", "Settings ") == snapshot(["exit 5"])
    assert office.asbuilt("log", "greet").count("baseline") == logged.count("baseline")
