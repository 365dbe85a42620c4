from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.events.plans import PlanMarked
from asbuilt.flows.engine.fence import Fenced, Superseded
from asbuilt.journal import repositories, runs
from asbuilt.journal.engine import segments, workers
from asbuilt.journal.engine.workers import machine_id, worker_id
from asbuilt.journal.events import append, history
from asbuilt.journal.home import Home
from asbuilt.journal.ids import Segment, new_id
from asbuilt.journal.repositories import Known
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Store

ORG = PLAN.org
OLD = "2020-01-01T00:00:00.000Z"


def _request(store: Store) -> Segment:
    with store.write() as session:
        run = runs.request(
            session, PLAN, run=new_id(), slug="rate-limit", options=RunOptions(), actor="you"
        ).run
    with store.read() as session:
        return next(one for one in runs.open_segments(session, ORG) if one.run == run)


def _asked(store: Store, *, machine: str | None = None) -> list[str]:
    with store.read() as session:
        return [one.workflow for one in segments.asked(session, ORG, machine=machine)]


def _enqueue(store: Store) -> list[str]:
    """Enqueue what was asked for, as a worker does; return what the engine gets."""
    enqueued: list[str] = []
    store.dispatch = lambda _session, segment: enqueued.append(segment.workflow)
    with store.read() as session:
        asked = segments.asked(session, ORG, machine=None)
    with store.write() as session:
        for segment in asked:
            segments.enqueue(session, segment)
    store.dispatch = None
    return enqueued


def _register(store: Store, worker: str) -> int:
    with store.write() as session:
        return workers.register(session, ORG, worker, host="here", pid=1, build="1")


def _heartbeat(store: Store, worker: str, epoch: int) -> bool:
    with store.write() as session:
        return workers.heartbeat(session, ORG, worker, epoch=epoch, draining=False)


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


def test_what_a_command_asks_for_is_enqueued_once(store: Store) -> None:
    asked = [_request(store) for _ in range(3)]
    # Two that were asked for in one instant have no order but that of their names.
    known = [one.workflow for one in sorted(asked, key=lambda one: (one.due_at, one.run))]
    assert _asked(store) == known
    assert (_enqueue(store), _enqueue(store)) == (known, [])


def test_an_enqueue_and_the_row_that_it_belongs_to_are_one_transaction(store: Store) -> None:
    segment = _request(store)

    def fails(*_: object) -> None:
        raise ConnectionError

    store.dispatch = fails
    with pytest.raises(ConnectionError), store.write() as session:
        segments.enqueue(session, segment)
    assert _asked(store) == [segment.workflow]
    with pytest.raises(ConnectionError), store.write() as session:
        segments.follow(session, segment, due_at=session.now, why="next")
    with store.read() as session:
        assert [one.n for one in runs.open_segments(session, ORG)] == [1]


def test_a_run_is_enqueued_only_where_its_repository_is(store: Store) -> None:
    known = _request(store)
    with store.write() as session:
        repositories.remember(session, ORG, Known(known.repo, "/repo", "1:2", None, "its machine"))
    with store.read() as session:
        assert not segments.will_continue(session, ORG, "a", machine="another machine")
        assert segments.will_continue(session, ORG, "a", machine="its machine")
    assert _asked(store, machine="another machine") == []
    assert _asked(store, machine="its machine") == [known.workflow]


def test_a_segment_that_waits_for_a_person_is_not_enqueued_until_it_is_woken(store: Store) -> None:
    first = _request(store)
    _enqueue(store)
    with store.write() as session:
        assert segments.follow(session, first, due_at=runs.FAR, why="approval")
        assert not segments.follow(session, first, due_at=runs.FAR, why="approval")
    assert _asked(store) == []
    with store.write() as session:
        runs.wake(session, ORG, first.repo, first.run)
    assert _enqueue(store) == [f"{first.run}.2"]


def test_everything_that_is_open_and_due_is_enqueued_again_when_it_is_asked_for(store: Store) -> None:
    due, timed, closed, parked = (_request(store) for _ in range(4))
    _enqueue(store)
    with store.write() as session:
        segments.follow(session, timed, due_at="2999-01-01T00:00:00.000Z", why="time")
        segments.follow(session, parked, due_at=runs.FAR, why="approval")
        segments.close(session, closed)
    _enqueue(store)
    with store.write() as session:
        assert segments.ask_again(session, ORG, before=runs.FAR) == 2
    assert _enqueue(store) == [due.workflow, f"{timed.run}.2"]


def test_a_worker_that_was_not_heard_of_is_given_up_and_comes_back_as_a_newcomer(store: Store) -> None:
    epoch = _register(store, "a")
    assert not _give_up(store, "a")
    assert _heartbeat(store, "a", epoch)
    with store.write() as session:
        session.run("UPDATE workers SET beat_at = :old", old=OLD)
        assert workers.gone(session, ORG, before=workers.earlier(session.now, 60)) == ["a"]
        assert workers.is_current(session, ORG, "a", epoch=epoch)
    assert _give_up(store, "a")
    assert not _heartbeat(store, "a", epoch)
    with store.write() as session:
        assert not workers.is_current(session, ORG, "a", epoch=epoch)
    assert _register(store, "a") == epoch + 2


def _begin(store: Store, segment: Segment, worker: str) -> Fenced:
    with store.write() as session:
        begun = segments.begin(session, segment, worker=worker)
    assert begun is not None
    return Fenced(store, segment, begun.token)


@pytest.mark.parametrize("ends", ["another begins", "it is released", "it is closed"])
def test_whoever_was_replaced_writes_nothing_more(store: Store, ends: str) -> None:
    segment = _request(store)
    fenced = _begin(store, segment, "a")
    with fenced.write() as session:
        append(session, PLAN, PlanMarked(), key="mine", actor="a")
    match ends:
        case "another begins":
            _begin(store, segment, "a")
        case "it is released":
            with store.write() as session:
                assert segments.release(session, segment)
        case _:
            with store.write() as session:
                assert segments.close(session, segment)
    with pytest.raises(Superseded) as superseded, fenced.write() as session:
        append(session, PLAN, PlanMarked(), key="late", actor="a")
    assert superseded.value.is_closed == (ends == "it is closed")
    with store.read() as session:
        written = [one.key for one in history(session, PLAN) if isinstance(one.event, PlanMarked)]
    assert written == ["mine"]


def test_a_closed_segment_does_not_begin_again(store: Store) -> None:
    segment = _request(store)
    with store.write() as session:
        segments.close(session, segment)
        assert segments.begin(session, segment, worker="a") is None
        assert not segments.release(session, segment)
        assert segments.named(session, ORG, segment.workflow) is None
