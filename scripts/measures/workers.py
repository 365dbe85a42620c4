"""Curves of workers: more of them (C), agents asleep (D), runs parked (E), the engine alone (G)."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

import psycopg
from tests.journal.conftest import open_store

from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.runs import FAR
from measures.crew import bare_runs, crew, runs_of_asbuilt, until
from measures.curve import Curve, Point
from measures.noop import REPO, ask_for_runs
from measures.server import resident_mb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.journal.database.store import Store
    from measures.server import Server, Spent

_PLANS: Final = 24
_PHASES: Final = 3


def more_workers(server: Server, numbers: Sequence[int], plans: int = _PLANS) -> tuple[Curve, Curve, Curve]:
    """Measure C and G: processor time of a plan with more workers, beside the engine alone.

    The rate is also compared with the engine doing two steps a move: it records what is decided and what is
    done. That is the least without the rule of ADR 26 that one step does both.
    """
    cpu, beside, rate = [], [], []
    for number in numbers:
        where = server.database()
        ours, steps = runs_of_asbuilt(server, where, workers=number, plans=plans, of_phases=_PHASES)
        server.drop(where)
        where = server.database()
        bare = bare_runs(server, where, workers=number, plans=plans, steps=steps)
        server.drop(where)
        where = server.database()
        apart = bare_runs(server, where, workers=number, plans=plans, steps=2 * steps - 1)
        server.drop(where)
        spent = {"Postgres ms": ours.postgres_s * 1e3, "worker ms": ours.worker_s * 1e3}
        cpu.append(Point(number, {"CPU ms": _cpu_ms(ours), **spent, "transactions": ours.transactions}))
        beside.append(Point(number, {"CPU, asbuilt / bare": _cpu_ms(ours) / _cpu_ms(bare)}))
        rates = {"rate": bare.wall_s / ours.wall_s, "rate, two steps a move": apart.wall_s / ours.wall_s}
        rate.append(Point(number, {f"{name}, asbuilt / bare": ratio for name, ratio in rates.items()}))
    return (
        Curve("C", "Processor time of a plan", "workers", cpu, {"CPU ms": 1.5}),
        Curve("G", "asbuilt beside bare DBOS", "workers", beside, {"CPU, asbuilt / bare": 1.5}, is_rate=True),
        Curve("G", "Its rate", "workers", rate, {}, is_rate=True),
    )


def sleeping_agents(server: Server, numbers: Sequence[int], *, rest_s: float) -> Curve:
    """Measure D: transactions a second while so many agents sleep in one worker."""
    points = []
    for number in numbers:
        where = server.database()
        with closing(open_store(where)) as store:
            store.migrate(STEPS)
            ask_for_runs(store, number, of_phases=1)
            with crew("asleep", where, 1, slots=max(8, number)) as hands:
                until(lambda: len(list(hands.home.glob("asleep/*"))) >= number, 900)  # noqa: B023 - called at once
                time.sleep(rest_s / 2)
                rest = _at_rest(server, hands.pids, rest_s)
        server.drop(where)
        points.append(Point(number, {**rest, "tx/s each": 0.0}))
    idle = points[0].figures["tx/s"]
    for point in points[1:]:
        point.figures["tx/s each"] = max(0.0, point.figures["tx/s"] - idle) / point.at
    return Curve("D", "Agents that sleep", "agents", points, {"tx/s each": 0.1}, is_rate=True)


def parked_runs(server: Server, numbers: Sequence[int], *, rest_s: float) -> Curve:
    """Measure E: a worker at rest while so many runs wait for a person."""
    points = []
    for number in numbers:
        where = server.database()
        with closing(open_store(where)) as store:
            store.migrate(STEPS)
            _park(store, number)
            with crew("asbuilt", where, 1) as hands:
                time.sleep(rest_s / 2)
                rest = _at_rest(server, hands.pids, rest_s)
                with psycopg.connect(where, autocommit=True) as looking:
                    rest["open engine rows"] = _count(
                        looking,
                        "SELECT count(*) FROM dbos.workflow_status WHERE status NOT IN ('SUCCESS', 'ERROR')",
                    )
        server.drop(where)
        points.append(Point(number, rest))
    accepted = {"tx/s": 1.2, "worker %": 1.2, "RSS MB": 1.2}
    return Curve("E", "Runs that wait for a person", "parked runs", points, accepted)


def connections(server: Server, workers: int) -> int:
    """Count the connections of workers under load, at their most."""
    where, most = server.database(), 0
    with closing(open_store(where)) as store:
        store.migrate(STEPS)
        with crew("asbuilt", where, workers) as _:
            before = server.connections()
            ask_for_runs(store, 4 * workers, of_phases=2)
            with store.read():
                pass
            end = time.monotonic() + 60
            while time.monotonic() < end:
                with store.read() as session:
                    left = session.rows("SELECT run FROM runs WHERE ended_at IS NULL LIMIT 1")
                # Ours, which ask and look, are not the workers'.
                most = max(most, before, server.connections() - 1)
                if not left:
                    break
                time.sleep(0.2)
    server.drop(where)
    return most


def _at_rest(server: Server, workers: tuple[int, ...], rest_s: float) -> dict[str, float]:
    """Watch workers that have nothing to do, twice, and believe the quieter time.

    A backend may tell what it did up to ten seconds late, and the server tidies up after a burst; both fall
    into the first watch on a busy machine, neither is what rest costs.
    """
    spent = min(
        (_watched(server, workers, rest_s) for _ in range(2)),
        key=lambda each: each.transactions / each.wall_s,
    )
    return {
        "tx/s": spent.transactions / spent.wall_s,
        "worker %": spent.worker_s / spent.wall_s * 100,
        "Postgres %": spent.postgres_s / spent.wall_s * 100,
        "RSS MB": sum(map(resident_mb, workers)),
    }


def _watched(server: Server, workers: tuple[int, ...], rest_s: float) -> Spent:
    """Tell what was spent in a while."""
    before = server.spent(workers)
    time.sleep(rest_s)
    return server.spent(workers).since(before)


def _park(store: Store, number: int) -> None:
    """Write down runs that wait for an answer, as `wait` leaves them."""
    if not number:
        return
    ask_for_runs(store, 1, of_phases=1)
    copies = (
        "WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < :number)"
        " INSERT INTO {} SELECT {} FROM number, {} AS one WHERE one.org = :org"
    )
    with store.write() as session:
        where = {"number": number, "org": LOCAL}
        session.run(
            copies.format(
                "runs (org, repo, run, plan, number, state, needs, options, at)",
                "org, repo, 'parked-' || i, plan || i, 1, 'waiting', needs, options, at",
                "runs",
            ),
            **where,
        )
        session.run(
            copies.format(
                "segments (org, repo, run, n, due_at, why)",
                f"org, repo, 'parked-' || i, 2, '{FAR}', 'approval'",
                "segments",
            ),
            **where,
        )
        session.run("DELETE FROM segments WHERE repo = :repo AND n = 1", repo=REPO)
        session.run("UPDATE runs SET ended_at = at, state = 'landed' WHERE run NOT LIKE 'parked-%'")


def _cpu_ms(spent: Spent) -> float:
    return (spent.postgres_s + spent.worker_s) * 1e3


def _count(connection: psycopg.Connection[tuple[int]], sql: str) -> int:
    row = connection.execute(sql.encode()).fetchone()
    return int(row[0]) if row else 0
