"""A plan that is put on and run at once, in a zone that was chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import Office

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crash
NEXT = r"Scheduled: day at \[HH:MM\]; next (\w{3} \d\d \w{3} )?\[HH:MM\] JST, in \S+( \S+)?\."


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    made.environ["ASBUILT_TIME_ZONE"] = "Asia/Tokyo"
    yield made
    made.close()


def test_a_plan_that_is_put_on_runs_at_once_when_that_is_asked_for_and_stays_on(office: Office) -> None:
    daily = ("run", "greet", "--every", "day at 9am", "--now", "--script", str(office.script))
    told = office.asbuilt(*daily).splitlines()
    assert told[:3] == [
        "exit 0",
        "--- stdout",
        "Scheduled greet: one phase, every day at [HH:MM], Asia/Tokyo.",
    ]
    assert office.git("log", "--format=%s", "main").splitlines() == ["Mark plans/greet.md", "Greet", "start"]
    shown = office.asbuilt("status", "greet")
    assert re.search(f"^{NEXT}$", shown, re.MULTILINE), shown


def test_a_plain_run_beside_a_schedule_lands_nothing_that_was_not_confirmed(office: Office) -> None:
    office.asbuilt("run", "greet", "--every", "day at 9am", "--script", str(office.script))
    plain = office.asbuilt("run", "greet")
    assert "greet.1: 1 of 4 phases proven, not landed." in plain
    assert "Lands    on main, when you confirm\n" in plain
    assert re.search("^Scheduled day at ", plain, re.MULTILINE), plain
    without_a_name = office.asbuilt("run-plan", "now")
    assert "not landed" in without_a_name
    assert office.git("log", "--format=%s", "main") == "start"


def test_a_plain_run_that_ends_a_schedule_prints_that_and_status_shows_it(office: Office) -> None:
    office.asbuilt("run", "greet", "--every", "day at 9am", "--script", str(office.script))
    office.environ["ASBUILT_CHECKS_SETUP"] = "exit 3"
    failed = office.asbuilt("run", "greet")
    assert "greet.1 failed: " in failed
    assert "\nThe schedule ended [HH:MM]: its run failed.\n" in failed
    status = office.asbuilt("status", "greet")
    assert "\nSchedule ended [HH:MM]: its run failed.\n" in status
    del office.environ["ASBUILT_CHECKS_SETUP"]
    assert "schedule" not in office.asbuilt("run", "greet").lower()
    assert "schedule" not in office.asbuilt("status", "greet").lower()
