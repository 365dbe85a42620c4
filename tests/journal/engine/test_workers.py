from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.events.plans import PlanMarked
from asbuilt.flows.engine.fence import Fenced, Superseded
from asbuilt.journal import repositories, runs
from asbuilt.journal.engine import segments, workers
from asbuilt.journal.engine.identity import machine_id, worker_id
from asbuilt.journal.events import append, history
from asbuilt.journal.home import Home
from asbuilt.journal.ids import new_id
from asbuilt.journal.repositories import Known
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Segment

ORG = PLAN.org
OLD = "2020-01-01T00:00:00.000Z"


def _request(store: Store) -> Segment:
    with store.write() as session:
        run = runs.request(
            session, PLAN, run=new_id(), slug="rate-limit", options=RunOptions(), actor="you"
        ).run
    with store.read() as session:
        return next(one for one in runs.open_segments(session, ORG) if one.run == run)


def _claim(store: Store, worker: str, *, at_most: int = 9, machine: str | None = None) -> list[str]:
    with store.write() as session:
        segments.claim(session, ORG, worker, machine=machine, at_most=at_most)
        return [one.segment.workflow for one in segments.held(session, ORG, worker)]


def _register(store: Store, worker: str) -> int:
    with store.write() as session:
        return workers.register(session, ORG, worker, host="here", pid=1, build="1")


def _beat(store: Store, worker: str, epoch: int) -> bool:
    with store.write() as session:
        return workers.beat(session, ORG, worker, epoch=epoch, draining=False)


def _give_up(store: Store, worker: str) -> bool:
    with store.write() as session:
        return workers.give_up(session, ORG, worker, before=workers.earlier(session.now, 60))


def test_a_worker_keeps_its_name_and_a_copy_of_its_folder_gets_another(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    name = worker_id(Home(first))
    shutil.copytree(first, tmp_path / "copy")
    first.rename(tmp_path / "moved")
    assert worker_id(Home(tmp_path / "moved")) == name
    copied = worker_id(Home(tmp_path / "copy"))
    assert copied != name
    assert worker_id(Home(tmp_path / "copy")) == copied


def test_a_name_that_is_torn_or_of_another_machine_is_minted_anew(tmp_path: Path) -> None:
    home = Home(tmp_path)
    name = worker_id(home)
    told = home.worker_id.read_text("ascii")
    home.worker_id.write_text(told.replace(machine_id(), "another"), "ascii")
    again = worker_id(home)
    home.worker_id.write_text("{", "ascii")
    assert len({name, again, worker_id(home)}) == 3


def test_a_segment_has_one_owner_and_waits_for_room(store: Store) -> None:
    asked = [_request(store) for _ in range(3)]
    # Two that were asked for in one instant have no order but that of their names.
    known = [one.workflow for one in sorted(asked, key=lambda one: (one.due_at, one.run))]
    assert _claim(store, "a", at_most=2) == known[:2]
    assert _claim(store, "b") == known[2:]
    assert _claim(store, "a") == known[:2]


def test_a_run_is_claimed_only_where_its_repository_is(store: Store) -> None:
    known = _request(store)
    with store.write() as session:
        repositories.remember(session, ORG, Known(known.repo, "/repo", "1:2", None, "its machine"))
    with store.read() as session:
        assert not segments.goes_on(session, ORG, "a", machine="another machine")
        assert segments.goes_on(session, ORG, "a", machine="its machine")
    assert _claim(store, "a", machine="another machine") == []
    assert _claim(store, "a", machine="its machine") == [known.workflow]


def test_the_next_segment_stays_with_its_worker_and_costs_it_no_look_until_it_is_due(store: Store) -> None:
    first = _request(store)
    _claim(store, "a")
    with store.write() as session:
        assert segments.follow(session, first, due_at=runs.FAR, why="approval")
        assert not segments.follow(session, first, due_at=runs.FAR, why="approval")
    assert _claim(store, "a") == _claim(store, "b") == []
    with store.write() as session:
        runs.wake(session, ORG, first.repo, first.run)
    assert _claim(store, "b") == []
    assert _claim(store, "a") == [f"{first.run}.2"]


def test_only_what_is_due_and_of_a_worker_not_heard_of_is_left_to_others(store: Store) -> None:
    due, parked = _request(store), _request(store)
    _claim(store, "a")
    epoch = _register(store, "a")
    with store.write() as session:
        segments.follow(session, parked, due_at=runs.FAR, why="approval")

    def left() -> list[str]:
        with store.read() as session:
            before = workers.earlier(session.now, 60)
            return [one.workflow for one in segments.of_lost(session, ORG, before=before, machine=None)]

    assert left() == []
    assert not _give_up(store, "a")
    assert _beat(store, "a", epoch)
    with store.write() as session:
        session.run("UPDATE workers SET beat_at = :old", old=OLD)
    assert left() == [due.workflow]
    assert _give_up(store, "a")
    # It was given up: its next beat is refused, and it comes back as a newcomer.
    assert not _beat(store, "a", epoch)
    assert _register(store, "a") == epoch + 2


def test_whoever_was_replaced_writes_nothing_more(store: Store) -> None:
    segment = _request(store)
    fenced = Fenced(store, segment)
    with fenced.write() as session:
        append(session, PLAN, PlanMarked(), key="mine", actor="a")
    with store.write() as session:
        segments.follow(session, segment, due_at=session.now, why="taken over", by="")
    with pytest.raises(Superseded), fenced.write() as session:
        append(session, PLAN, PlanMarked(), key="late", actor="a")
    with store.read() as session:
        written = [one.key for one in history(session, PLAN) if isinstance(one.event, PlanMarked)]
    assert written == ["mine"]
