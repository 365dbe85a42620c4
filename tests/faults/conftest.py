"""A plant for every fault. What fails says how it is seen again; `just faults` keeps a row for each class."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.crash import rows
from tests.faults.plant import Plant

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

_SAID = {
    "test_disk_full": "disk of the state folder or of the repository full at a stage, healed later",
    "test_damaged_files": "plan, journal, engine, blob or attempt file cut, emptied, flipped, noise or gone",
    "test_index_lock": "index.lock of a living or dead git at landing",
    "test_postgres_away": "Postgres restarted at once, or away for ten minutes",
    "test_clock_jumps": "clock a month ahead, an hour back, into the nights of summer time and a leap day",
    "test_unruly_agents": "agent that floods, ignores TERM, leaves children of another session, or dies",
}
_STORE = {"test_postgres_away": "postgres"}
_COLUMNS = {
    "lost": "lost", "torn": "lost", "touched": "lost", "doubled": "doubled", "bricked": "bricked",
    "orphan": "orphans", "left": "left", "not finished": "not_finished",
}  # fmt: skip
_seen: defaultdict[str, list[set[str]]] = defaultdict(list)


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    made = Plant(tmp_path)
    yield made
    made.close()
    made.compare()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and isinstance(found := item.funcargs.get("plant"), Plant):
        hows = {_COLUMNS[one.how] for one in found.wrong}
        if report.failed and not hows:
            hows = {"not_finished"}
        report.user_properties.append(("fault", ",".join(sorted(hows))))
    if report.failed:
        report.sections.append(("Seen again by", f"just faults '{item.nodeid}'"))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    module = report.nodeid.partition("::")[0].rpartition("/")[2].removesuffix(".py")
    for name, hows in report.user_properties:
        if name == "fault" and report.when == "call":
            _seen[module].append(set(filter(None, str(hows).split(","))))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if "FAULTS_ROWS" not in os.environ or hasattr(session.config, "workerinput"):
        return
    for module, runs in _seen.items():
        seen: dict[str, Any] = {**Counter(how for hows in runs for how in hows), **rows.where()}
        row = rows.Row(_SAID[module], _STORE.get(module, "sqlite"), len(runs), **seen)
        rows.keep(f"fault-{module.removeprefix('test_').replace('_', '-')}", [row])
    rows.PAGE.write_text(rows.page(), encoding="utf-8")
