"""What a worker costs while it has nothing to do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.crash.test_any_machine import machines
from tests.journal.conftest import postgres, where

if TYPE_CHECKING:
    from tests.crash.machines import Machines

__all__ = ["machines", "postgres", "where"]
pytestmark = [pytest.mark.crash, pytest.mark.parametrize("where", ["postgres"], indirect=True)]
MOST = 16
"""Transactions a second of an idle worker; 1,000 of them share a database."""
_WATCHED_S = 20


def _asked(where: str, sql: str) -> int:
    with psycopg.connect(where, autocommit=True) as connection:
        row = connection.execute(sql.encode()).fetchone()
    return int(row[0]) if row else 0


def _transactions(where: str) -> int:
    return _asked(
        where,
        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()",
    )


def test_an_idle_worker_of_a_fleet_makes_few_transactions(machines: Machines, where: str) -> None:
    with machines.serving("bob"):
        end = time.monotonic() + 60
        while (
            not _asked(where, "SELECT (to_regclass('dbos.queues') IS NOT NULL)::int")
            and time.monotonic() < end
        ):
            time.sleep(0.5)
        time.sleep(5)
        before, start = _transactions(where), time.monotonic()
        time.sleep(_WATCHED_S)
        each_s = (_transactions(where) - before) / (time.monotonic() - start)
    # Less would mean that the worker had not come up: the engine alone polls 4 times a second.
    assert 4 < each_s <= MOST


def test_a_worker_whose_connections_were_closed_at_rest_takes_the_next_run(machines: Machines) -> None:
    machines.join("bob")
    machines.until(machines.members)
    machines.rest("bob", seconds=2)
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    closed = _asked(
        machines.where, f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {others}"
    )
    assert closed >= 4
    run = machines.ask(mode="phase")
    assert machines.over(run) == ("landed", "")
    assert machines.landed() == ["Mark plan.md", "Greet", "start"]
