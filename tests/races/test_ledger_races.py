"""Four clerks on one ledger, killed between any two writes to its views: afterwards all of it agrees."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.flows.tasks.postflight import finish, found_here, write_here
from asbuilt.journal.database.schema import STEPS
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.todo import agree
from tests.journal.conftest import open_store, postgres, where
from tests.lifecycle.tasks.pairs import STATE, TODO
from tests.races.arena import ROOT, ROUNDS, SEED
from tests.races.clerks import HERE

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["postgres", "where"]
CLERKS = 4
BOTH = ("sqlite", "postgres")


@pytest.mark.crash
@pytest.mark.parametrize("where", BOTH if ROUNDS > 100 else BOTH[:1], indirect=True)
def test_both_views_agree_whatever_four_clerks_did_and_wherever_they_were_killed(
    tmp_path: Path, where: str
) -> None:
    store = open_store(where)
    store.migrate(STEPS)
    checkout, told = tmp_path / "shop", tmp_path / "told"
    (checkout / "specs").mkdir(parents=True)
    (checkout / "specs/state.json").write_bytes(STATE)
    (checkout / "specs/TODO.md").write_bytes(TODO)
    state = read_state(STATE)
    with store.write() as session:
        tasks.take(session, *HERE, state.tasks, next_number=state.next_number, actor="you")
    told.touch()
    killed = begun = 0
    clerks: list[subprocess.Popen[bytes]] = []
    while len(told.read_text("utf-8").splitlines()) < ROUNDS:
        while len(clerks) < CLERKS:
            begun += 1
            words = [where, str(checkout), str(told), f"{SEED}-{begun}", str(ROUNDS // CLERKS + 1)]
            clerks.append(subprocess.Popen([sys.executable, "-m", "tests.races.clerks", *words], cwd=ROOT))
        code = clerks.pop(0).wait(timeout=600)
        assert code in (0, -9), f"a clerk ended with {code}; ASBUILT_RACE_SEED={SEED} just races -k clerks"
        killed += code == -9
    for clerk in clerks:
        clerk.wait(timeout=600)
    assert killed > 0
    finish(store, *HERE)
    assert agree(found_here(checkout).pair) == []
    write_here(store, *HERE, checkout)
    pair = found_here(checkout).pair
    assert agree(pair) == []
    with store.read() as session:
        known, head = tasks.every(session, *HERE), tasks.head(session, *HERE)
        events = tasks.history(session, *HERE)
        assert known == tasks.as_of(session, *HERE, head.seq)
    assert read_state(pair.state).tasks == known
    assert [one.seq for one in events] == list(range(1, head.seq + 1))
    added = [int(line.split()[1]) for line in told.read_text("utf-8").splitlines() if line.startswith("add")]
    assert len(added) == len(set(added))
    assert sorted(set(known) - {414, 415}) == list(range(416, head.next_number))
    for foreign in (b"Ours since 2019.", b"### 900. Not a task", b"planner first", b"only plans. \xff"):
        assert foreign in (pair.todo or b"")
    assert b'"repository_health"' in (pair.state or b"")
    left = sorted(one.name for one in (checkout / "specs").iterdir())
    assert left == ["TODO.md", "state.json"]
    store.close()
