from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from asbuilt.events.attempts import AttemptBegun, AttemptEnded, VerifierEnded
from tests.journeys.shop import ALL, BOTH, LANDED, LONG, SCRIPT

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash
EVENTS = (
    "run.started", "workspace.made", "phase.begun", "attempt.begun", "attempt.ended",
    "tree.kept", "checks.done", "verdict.given", "phase.proven", "landing.intended",
)  # fmt: skip
ATTEMPTS = ("1.1", "1.1v", "2a.1", "2a.2", "2a.2v", "2b.1", "2b.1v", "3.1", "3.1v", "2a.2 with its worker")


def _of_workers() -> list[tuple[str, str]]:
    """Give every point on both stores; in the slice every point, on one after the other."""
    return [
        (store, point) for at, point in enumerate(EVENTS) for store in (BOTH if LONG else (BOTH[at % 2],))
    ]


def _of_attempts() -> list[tuple[str, str, str]]:
    """Give hosts and agents at every attempt on both stores; in the slice each attempt with one of them."""
    every = [(at, name, victim) for at, name in enumerate(ATTEMPTS) for victim in ("host", "agent")]
    chosen = every if LONG else [one for one in every if (one[0] % 2 == 0) == (one[2] == "host")]
    return [
        (store, name, victim)
        for at, name, victim in chosen
        for store in (BOTH if LONG else (BOTH[at // 2 % 2],))
    ]


@pytest.mark.parametrize(("where", "point"), _of_workers(), indirect=["where"])
def test_a_worker_killed_at_any_point_is_followed_by_one_that_goes_on(shop: Shop, point: str) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish")
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL


@pytest.mark.parametrize(("where", "name", "victim"), _of_attempts(), indirect=["where"])
def test_a_host_or_agent_killed_in_any_attempt_costs_a_start_and_nothing_else(
    shop: Shop, name: str, victim: str
) -> None:
    address, _, with_worker = name.partition(" ")
    phase, _, number = address.partition(".")
    role = "verify" if number.endswith("v") else "fix" if address == "2a.2" else "implement"
    head = f'phase = "{phase}"\nrole = "{role}"\nattempt = {number.removesuffix("v")}'
    shop.turn(head, '{ write = "half.txt", text = "half" }', '{ say = "here" }', "{ hang = true }")
    shop.lands(*LANDED, "half.txt")
    run = shop.request(mode="finish")
    shop.start()
    shop.kill_of_attempt(run, address, victim, script=SCRIPT)
    if with_worker:
        shop.kill()
        shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL
    crashes = [event.ending for event in shop.events(AttemptEnded) if event.ending != "done"]
    lost = [event.ending for event in shop.events(VerifierEnded)]
    assert crashes + lost == (["crashed"] if victim == "agent" else [])


@pytest.mark.parametrize("point", EVENTS if LONG else ("attempt.begun", "landing.intended"))
def test_an_engine_that_lost_its_database_is_told_everything_again(shop: Shop, point: str) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish")
    shop.start()
    shop.until(lambda: point in shop.kinds())
    shop.kill()
    if shop.where.startswith("postgresql:"):
        with psycopg.connect(shop.where, autocommit=True) as connection:
            connection.execute("DROP SCHEMA dbos CASCADE")
    else:
        with closing(sqlite3.connect(shop.where)) as file:
            for name in ("operation_outputs", "workflow_input", "workflow_status"):
                file.execute(f"DELETE FROM {name}")
            file.commit()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL
    assert len(shop.events(AttemptBegun)) == 5
