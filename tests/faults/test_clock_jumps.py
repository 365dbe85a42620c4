from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptEnded
from tests.faults.clocks import clock_in
from tests.faults.plant import Plant
from tests.journeys.shop import LONG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faults.clocks import Clock

pytestmark = pytest.mark.crash
HOUR, DAY = 3_600, 86_400
JUMPS: dict[str, int | str] = {
    "a month ahead": 30 * DAY,
    "an hour back": -HOUR,
    "the night that summer time begins": "2027-03-28T00:59:55Z",
    "the night that it ends": "2027-10-31T00:59:55Z",
    "the eve of a leap day": "2028-02-28T23:59:55Z",
}
LIMIT_S = 8


def _ahead(jump: str) -> int:
    to = JUMPS[jump]
    if isinstance(to, int):
        return to
    return round((datetime.fromisoformat(to) - datetime.now(UTC)).total_seconds())


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    return clock_in(tmp_path)


@pytest.fixture
def plant(tmp_path: Path, clock: Clock) -> Iterator[Plant]:
    made = Plant(tmp_path)
    made.environ |= {**clock.environment, "TZ": "Europe/Prague"}
    made.lands("greet.py", "plan.md")
    yield made
    made.close()
    made.compare()


@pytest.mark.parametrize(
    "point", ["attempt.begun", "tree.kept", "landing.intended"] if LONG else ["attempt.begun"]
)
@pytest.mark.parametrize("jump", JUMPS if LONG else ["a month ahead"])
def test_a_clock_that_jumps_under_a_run_ends_nothing_early_and_starts_nothing_twice(
    plant: Plant, clock: Clock, jump: str, point: str
) -> None:
    acts = '{ write = "greet.py", text = "print(\'hello\')\\n" }', "{ sleep = 3 }", '{ say = "done" }'
    plant.turn('phase = "1"\nrole = "implement"', *acts)
    run = plant.request(mode="phase")
    plant.start()
    plant.until(lambda: point in plant.kinds())
    clock.set(_ahead(jump))
    assert plant.typed("status", "plan").code == 0
    plant.landed(run)
    assert [event.ending for event in plant.events(AttemptEnded)] == ["done"]


def test_ten_hours_of_waiting_take_nothing_of_the_hour_that_a_run_has(plant: Plant, clock: Clock) -> None:
    run = plant.parked(caps={"hours": 1})
    clock.set(10 * HOUR)
    plant.landed(run)
    assert [event.ending for event in plant.events(AttemptEnded)] == ["limited", "done"]


@pytest.mark.parametrize("jump", JUMPS if LONG else ["an hour back"])
def test_a_clock_that_jumps_while_a_run_is_parked_loses_no_wake_up(
    plant: Plant, clock: Clock, jump: str
) -> None:
    plant.turn('phase = "1"\nrole = "implement"\nstart = 1', f"{{ limit = {LIMIT_S} }}")
    run = plant.request(mode="phase")
    plant.start()
    plant.until(lambda: plant.run(run).state == "waiting")
    clock.set(_ahead(jump))
    if _ahead(jump) < 0:
        # The limit opens at a time of day, which is an hour off now; set right again, nothing was lost.
        assert "Continues automatically" in plant.typed("status", "plan").words
        clock.set(0)
    plant.landed(run)
    assert [event.ending for event in plant.events(AttemptEnded)] == ["limited", "done"]
