from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from asbuilt.events.attempts import AttemptBegun
from tests.faults.plant import Plant
from tests.faults.processes import cpu_s
from tests.faults.servers import Server, serving
from tests.journeys.shop import LONG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crash
POINTS = (
    "attempt.begun", "run.requested", "run.started", "workspace.made", "attempt.ended", "tree.kept",
    "checks.done", "verifier.begun", "phase.proven", "landing.intended", "landing.done",
)  # fmt: skip
AWAY_S = float(os.environ.get("ASBUILT_FAULTS_AWAY_S", "600" if LONG else "8"))
GOES_ON_WITHIN_S = 30
CPU_AT_MOST = 0.02


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


@pytest.fixture
def plant(tmp_path: Path, server: Server) -> Iterator[Plant]:
    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    made = Plant(tmp_path, server.url.replace("/postgres?", f"/{name}?"))
    made.turn(
        'phase = "1"\nrole = "implement"',
        '{ write = "greet.py", text = "print(\'hello\')\\n" }',
        "{ sleep = 3 }",
        '{ say = "done" }',
    )
    made.lands("greet.py", "plan.md")
    yield made
    made.close()
    made.compare()


@pytest.mark.parametrize("point", POINTS if LONG else POINTS[:1])
def test_a_database_restarted_in_the_middle_of_a_run_loses_and_doubles_nothing(
    plant: Plant, server: Server, point: str
) -> None:
    run = plant.request(mode="phase")
    plant.start()
    plant.until(lambda: point in plant.kinds())
    server.stop_at_once()
    server.start()
    plant.landed(run)
    assert len(plant.events(AttemptBegun)) == 1


@pytest.mark.parametrize("point", ["checks.done", "attempt.begun"] if LONG else ["checks.done"])
def test_a_database_that_is_away_is_waited_for_in_words_and_at_no_cost(
    plant: Plant, server: Server, point: str
) -> None:
    run = plant.request(mode="phase")
    plant.start()
    plant.until(lambda: point in plant.kinds())
    server.stop_at_once()
    try:
        assert plant.worker is not None
        before, began = cpu_s(plant.worker.pid), time.monotonic()
        said = plant.typed("status", "plan")
        assert (said.code, "the journal's database cannot be used" in said.words) == (1, True), said
        assert (
            "Next: asbuilt config show store.url # shows the address; the database has to be up" in said.words
        ), said
        time.sleep(AWAY_S)
        share = (cpu_s(plant.worker.pid) - before) / (time.monotonic() - began)
    finally:
        server.start()
    seen, back = len(plant.kinds()), time.monotonic()
    plant.until(lambda: len(plant.kinds()) > seen or plant.run(run).is_over)
    if LONG:
        assert time.monotonic() - back < GOES_ON_WITHIN_S
        assert share < CPU_AT_MOST
    plant.landed(run)
