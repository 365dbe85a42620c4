"""Journals that asbuilt wrote before its events were typed are shown whole, and their runs continue.

`older/*.tar.xz` were made by the commands of that version, on SQLite and on Postgres: one run landed, one
holds proven work, one waits for an answer between two phases, one failed and its plan is claimed, one plan is
scheduled. The worker was killed with `kill -9`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from asbuilt.journal.engine.liveness import holder
from asbuilt.journal.engine.workers import machine_id
from tests.journeys.shop import one_store

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.crash

KEPT = Path(__file__).parent / "older"
ROOT = Path("/tmp/asbuilt-older")  # noqa: S108 - the journals name this folder


class Older:
    """The repository and the state folder of that version, and the commands of this one."""

    def __init__(self, url: str) -> None:
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(ROOT / "home"),
            "ASBUILT_HOME": str(ROOT / "state"),
            "ASBUILT_AGENTS_IMPLEMENT": "scripted",
            "ASBUILT_RUN_LANES": "1",
            "ASBUILT_STORE_URL": url,
        }

    def typed(self, *words: str) -> tuple[int, str]:
        """Return the exit code and the answer of a command."""
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "asbuilt", *words, "--no-input"],
            cwd=ROOT / "shop",
            env=self._environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        return ended.returncode, ended.stdout or ended.stderr

    def told(self, *words: str) -> Any:  # noqa: ANN401 - whatever a command prints
        return json.loads(self.typed(*words, "--json")[1])


@pytest.fixture
def older(where: str) -> Iterator[Older]:
    is_postgres = where.startswith("postgresql")
    assert not ROOT.exists(), f"{ROOT} is left from another run of this test; remove it"
    with tarfile.open(KEPT / ("postgres.tar.xz" if is_postgres else "sqlite.tar.xz")) as kept:
        kept.extractall(ROOT.parent, filter="data")
    try:
        _move_here()
        if is_postgres:
            with psycopg.connect(where, autocommit=True) as connection:
                # psql's own commands, and the search path that a dump clears for its session.
                lines = (ROOT / "journal.sql").read_text(encoding="utf-8").splitlines()
                connection.execute("\n".join(line for line in lines if not line.startswith("\\")).encode())
        yield Older(where if is_postgres else "")
    finally:
        worker = holder(ROOT / "state" / "worker.lock")
        if worker is not None:
            os.kill(worker, signal.SIGKILL)
        shutil.rmtree(ROOT)


def _move_here() -> None:
    """Say that this machine wrote the journal: on a shared database a repository belongs to one machine."""
    identity, dump = ROOT / "state" / "worker.id", ROOT / "journal.sql"
    known = json.loads(identity.read_text(encoding="ascii"))
    here = {"machine": machine_id(), "inode": identity.stat().st_ino}
    identity.write_text(json.dumps(known | here), encoding="ascii")
    if dump.exists():
        dump.write_text(
            dump.read_text(encoding="utf-8").replace(known["machine"], machine_id()), encoding="utf-8"
        )


@one_store
def test_everything_in_an_older_journal_is_shown_and_continues(older: Older) -> None:
    assert _phases(older) == {
        "landed": ["landed", "landed"],
        "held": ["proven", "ready"],
        "parked": ["proven", "ready"],
        "failed": ["failed", "pending"],
        "scheduled": [],
    }
    assert [question["kind"] for question in older.told("approve")["waiting"]] == ["continue"]
    claims = {claim["plan"]: claim["owner"] for claim in older.told("claim", "list")["claims"]}
    assert claims == {"plans/parked.md": "parked.1", "plans/failed.md": "you"}
    schedules = [plan["schedule"] for plan in older.told("status")["plans"]]
    assert [one["cadence"] for one in schedules if one] == ["day at 03:30"]

    # No worker is there yet: a schedule that is over cannot fire while the test runs.
    assert older.typed("stop", "scheduled")[0] == 0
    assert older.typed("approve", "yes", "a1")[0] == 0
    assert older.typed("watch", "parked")[0] == 0
    assert older.typed("land", "parked")[0] == 0
    assert older.typed("land", "held")[0] == 0
    assert older.typed("claim", "release", "plans/failed.md", "--owner", "you")[0] == 0
    assert older.typed("run", "failed")[0] == 1
    # The plan whose schedule ended has not run.
    assert _phases(older) == {
        "landed": ["landed", "landed"],
        "held": ["landed", "ready"],
        "parked": ["landed", "landed"],
        "failed": ["failed", "pending"],
    }


def _phases(older: Older) -> dict[str, list[str]]:
    plans = older.told("status")["plans"]
    return {plan["plan"]: [phase["state"] for phase in plan["phases"]] for plan in plans}
