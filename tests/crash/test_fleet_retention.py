"""A worker of the fleet deletes what ended runs have left in the engine, on the remote and on disk."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.crash.test_any_machine import machines
from tests.journal.conftest import postgres, where

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.machines import Machines

__all__ = ["machines", "postgres", "where"]
pytestmark = [pytest.mark.crash, pytest.mark.parametrize("where", ["postgres"], indirect=True)]
_MANY = 3_000
"""Loose objects in a mirror, more than git leaves unpacked."""


def _engine(machines: Machines, run: str) -> list[str]:
    with psycopg.connect(machines.where) as connection:
        sql = "SELECT status FROM dbos.workflow_status WHERE workflow_uuid LIKE %s"
        return [str(row[0]) for row in connection.execute(sql, [f"{run}.%"]).fetchall()]


def _grow_old(machines: Machines, run: str) -> None:
    """Let the engine's records, and what the journal has of a run, be of 40 days ago."""
    ago_ms = 40 * 24 * 3_600_000
    earlier = (
        "to_char({0}::timestamptz AT TIME ZONE 'UTC' - interval '40 days',"
        ' \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\')'
    )
    changes = (
        f"dbos.workflow_status SET completed_at = completed_at - {ago_ms}",
        f"asbuilt.events SET at = {earlier.format('at')} WHERE key LIKE '{run}%'",
        f"asbuilt.runs SET ended_at = {earlier.format('ended_at')} WHERE run = '{run}'",
    )
    with psycopg.connect(machines.where, autocommit=True) as connection:
        for change in changes:
            connection.execute(f"UPDATE {change}".encode())


def _fill(mirror: Path, folder: Path) -> None:
    """Give a mirror many loose objects that a ref names, as months of attempts do."""
    folder.mkdir()
    files = [folder / str(number) for number in range(_MANY)]
    for file in files:
        file.write_text(file.name, encoding="ascii")
    hashed = _git(mirror, "hash-object", "-w", "--stdin-paths", given="".join(f"{file}\n" for file in files))
    rows = zip(files, hashed.split(), strict=True)
    tree = _git(mirror, "mktree", given="".join(f"100644 blob {blob}\t{file.name}\n" for file, blob in rows))
    _git(mirror, "update-ref", "refs/tags/many", tree.strip())


def _git(at: Path, *words: str, given: str = "") -> str:
    command = ["git", "-C", str(at), *words]
    return subprocess.run(command, input=given, check=True, capture_output=True, text=True).stdout


def _loose(mirror: Path) -> int:
    return int(_git(mirror, "count-objects").split()[0])


def test_a_worker_of_the_fleet_deletes_what_ended_runs_have_left_and_leaves_open_ones_alone(
    machines: Machines,
) -> None:
    machines.turn('phase = "2a"\nrole = "fix"', '{ say = "here" }', "{ hang = true }")
    with machines.serving("bob") as state:
        landed = machines.ask(mode="phase")
        assert machines.over(landed) == ("landed", "")
        machines.commit_pulled()
        opened = machines.ask(mode="phase")
        machines.until(lambda: [*state.glob(f"runs/{opened}/attempts/*2a.2/starts")])
        mine = [f"refs/asbuilt/attempts/{landed}.1.1", f"refs/asbuilt/results/{landed}.1.1"]
        assert [ref for ref in machines.shared_refs() if landed in ref] == [*mine, f"{mine[1]}v"]
        kept = [ref for ref in machines.shared_refs() if opened in ref]
        assert f"refs/asbuilt/attempts/{opened}.2a.1" in kept
        (mirror,) = state.glob("mirrors/*.git")
        _fill(mirror, machines.folder / "many")
        assert _loose(mirror) > _MANY
        _grow_old(machines, landed)
        yesterday = time.time() - 2 * 24 * 3_600
        machines.until((state / "cleaned").exists)
        os.utime(state / "cleaned", (yesterday, yesterday))
        machines.until(lambda: (state / "cleaned").stat().st_mtime > yesterday)
        assert [ref for ref in machines.shared_refs() if landed in ref] == []
        assert landed not in _git(mirror, "for-each-ref")
        assert [*state.glob(f"runs/{landed}*")] == []
        assert _engine(machines, landed) == []
        assert _loose(mirror) < _MANY / 10
        # The run that works has everything that it had.
        assert [ref for ref in machines.shared_refs() if opened in ref] == kept
        assert [*state.glob(f"runs/{opened}")] != []
        assert _engine(machines, opened) == ["PENDING"]
        assert machines.run(opened).state == "running"
