from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.runs import TroubleMet
from tests.faults.disks import disk_at
from tests.faults.plant import Plant
from tests.journeys.shop import LONG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faults.disks import Disk

pytestmark = pytest.mark.crash
POINTS = (
    "first start", "run.started", "workspace.made", "attempt.begun", "attempt.ended", "tree.kept",
    "checks.done", "verifier.begun", "phase.proven", "landing.intended", "landing.done",
)  # fmt: skip
LEFT = (0, 12 << 10, 48 << 10, 160 << 10, 600 << 10)
"""Bytes that are left: what comes next takes some, so that another write is the one that fails."""
QUIET_S = 3.0
FULL = ("is full", "No space left on device", "Out of diskspace", "couldn't write")


def _cases() -> list[tuple[str, str, int]]:
    """Give every point with every rest, on either disk; in the slice each kind of write once."""
    if LONG:
        return [(disk, point, left) for disk in ("state", "shop") for point in POINTS for left in LEFT]
    return [("state", "first start", 0), ("state", "attempt.begun", 0), ("shop", "attempt.ended", 0)]


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Disk]:
    made = disk_at(tmp_path / request.param)
    yield made
    made.close()


@pytest.fixture
def plant(tmp_path: Path, disk: Disk) -> Iterator[Plant]:
    made = Plant(tmp_path)
    yield made
    disk.heal()
    made.close()
    made.compare()


def _settled(plant: Plant, run: str, disk: Disk) -> None:
    """Wait until the run is over or its trouble is told; of a full state folder no event can tell."""
    if disk.path != plant.home:
        plant.until(lambda: plant.events(TroubleMet) or plant.run(run).is_over)
        return
    plant.until(lambda: plant.serves() or not plant.is_starting())
    since, before = time.monotonic(), -1
    while time.monotonic() < since + QUIET_S and "trouble.met" not in plant.kinds():
        now = len(plant.kinds())
        since, before = (since, before) if now == before else (time.monotonic(), now)
        time.sleep(0.1)


@pytest.mark.parametrize(("disk", "point", "left"), _cases(), indirect=["disk"])
def test_a_disk_that_is_full_is_told_of_and_once_there_is_room_the_run_lands(
    plant: Plant, disk: Disk, point: str, left: int
) -> None:
    plant.lands("greet.py", "plan.md")
    run = plant.request(mode="phase")
    if point == "first start":
        disk.fill(left=left)
        plant.start()
    else:
        plant.start()
        plant.until(lambda: point in plant.kinds())
        with plant.stopped():
            disk.fill(left=left)
    _settled(plant, run, disk)
    if not plant.run(run).is_over:
        said = plant.typed("status", "plan")
        assert said.code == 0, said
        assert any(words in said.words for words in FULL), said
    disk.heal()
    if not plant.serves() or plant.run(run).state == "waiting":
        assert plant.typed("run", "plan").code == 0
    plant.landed(run)
