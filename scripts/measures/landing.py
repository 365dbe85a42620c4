"""Landings onto one branch: real commits and the real line, everything before them done by nobody."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.journal.conftest import open_store

from asbuilt.events.landings import LandingDone, LandingRefused
from asbuilt.events.runs import TroubleMet
from asbuilt.flows.landing.commits import append_in_turn, take_turn
from asbuilt.flows.landing.move import Mover
from asbuilt.flows.run.record import Record
from asbuilt.git.commits import Person, message_for
from asbuilt.git.landing.candidates import Candidate, Edit, add_files
from asbuilt.git.repository import open_repository
from asbuilt.journal.database.schema import STEPS
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from measures.crew import crew, until
from measures.noop import Noop, ask_for_runs

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.flows.engine.fence import Fenced
    from asbuilt.flows.landing.move import Refusal
    from asbuilt.git.repository import Repository
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.kinds import Facts
    from measures.server import Server

_BY: Final = Person(name="A Person", email="a@example.com", at=datetime(2026, 1, 2, tzinfo=UTC))
_SHOP: Final = "shop"
_SMALL_S: Final = 60.0
_EACH_S: Final = 5.0


class Landed(NamedTuple):
    """How landings went."""

    wall_s: float
    landed: int
    refused: int
    on_branch: int


class Landing(Noop):
    """A performer that lands for real."""

    def perform(self, run: Run, facts: Facts, move: moves.Move, fenced: Fenced) -> None:
        """Land in turn; write down that every other move was made."""
        if not isinstance(move, moves.Land) or not isinstance(facts, PlanFacts):
            super().perform(run, facts, move, fenced)
            return
        record = Record(run=run, store=fenced, blobs=self._blobs)
        if facts.is_landing or take_turn(record):
            repository = open_repository(self.home.path / _SHOP)
            room = self.home.path / "rooms" / run.run
            append_event = partial(append_in_turn, record, facts.pending)
            mover = Mover(
                repository=repository,
                run=run.run,
                branch="main",
                room=room,
                append=append_event,
                hold=record.hold,
            )
            cut_off = facts.landing.intent if facts.is_landing else None
            mover.land(_File(record, repository, facts), cut_off=cut_off, sign=False, again="")


@dataclass(frozen=True, slots=True)
class _File:
    """One file, named after its run."""

    record: Record
    repository: Repository
    facts: PlanFacts

    def build(self, onto: str, *, sign: bool) -> Candidate:
        run = self.record.run.run
        edit = Edit(files={f"{run}.txt": b"landed\n"}, message=message_for("Land", Asbuilt_Run=run), by=_BY)
        empty = Candidate(onto=onto, tip=onto, commits=())
        return add_files(self.repository, empty, edit, run=run, sign=sign)

    def refusal(self, candidate: Candidate) -> Refusal | None:
        del candidate
        return None

    def details(self, candidate: Candidate) -> str:
        rows = [[work.phase, work.run, work.commit, candidate.tip] for work in self.facts.pending]
        return self.record.blobs.put(json.dumps({"commits": rows, "marks": True}).encode())


def landings(server: Server, *, workers: int, slots: int, number: int) -> Landed:
    """Let workers land so many runs on one branch; return how long that took, from the first request on."""
    where = server.database()
    store = open_store(where)
    store.migrate(STEPS)
    with closing(store), crew("landing", where, workers, slots=slots) as hands:
        _make(hands.home / _SHOP)
        ask_for_runs(store, 1, of_phases=1)
        _wait_for_end(store, _SMALL_S)
        began = time.monotonic()
        ask_for_runs(store, number, of_phases=1)
        _wait_for_end(store, _SMALL_S + _EACH_S * number)
        wall_s = time.monotonic() - began
        count = subprocess.run(
            ["git", "rev-list", "--count", "main"],
            cwd=hands.home / _SHOP,
            capture_output=True,
            check=True,
        )
        done, refused = (_count(store, kind.kind) for kind in (LandingDone, LandingRefused))
    server.drop(where)
    return Landed(wall_s, done - 1, refused, int(count.stdout) - 2)


def _make(folder: Path) -> None:
    folder.mkdir()
    for command in (
        ["init", "-q", "-b", "main"], ["config", "user.name", "A"], ["config", "user.email", "a@example.com"],
        ["commit", "-q", "--allow-empty", "-m", "start"],
    ):  # fmt: skip
        subprocess.run(["git", *command], cwd=folder, check=True)


def _wait_for_end(store: Store, within_s: float) -> None:
    """Wait until every run has ended; raise with the last transient error of a run if one has not."""
    try:
        until(lambda: not _open(store), within_s)
    except TimeoutError:
        query = "SELECT data FROM events WHERE kind = :kind ORDER BY at DESC LIMIT 1"
        with store.read() as session:
            errors = session.rows(query, kind=TroubleMet.kind)
        raise TimeoutError(f"runs are open after {within_s:g} s; last error: {errors}") from None


def _open(store: Store) -> bool:
    with store.read() as session:
        return bool(session.rows("SELECT 1 FROM runs WHERE ended_at IS NULL LIMIT 1"))


def _count(store: Store, kind: str) -> int:
    with store.read() as session:
        return int(session.rows("SELECT count(*) AS n FROM events WHERE kind = :kind", kind=kind)[0]["n"])
