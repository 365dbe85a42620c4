"""The line of runs that land on a branch: in order, one first, and each leaving gives one turn."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.landings import LandingTurn
from asbuilt.events.options import RunOptions
from asbuilt.journal import runs
from asbuilt.journal.events import history
from asbuilt.journal.ids import new_id
from asbuilt.journal.queues import landing_queue
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run


def _run(store: Store, name: str, branch: str = "main") -> Run:
    address = PLAN._replace(plan=f"plans/{name}.md")
    options = RunOptions(slug=name, branch=branch)
    with store.write() as session:
        return runs.request(session, address, run=new_id(), slug=name, options=options, actor="you")


def _join(store: Store, run: Run, *, is_urgent: bool = False) -> tuple[str, ...]:
    with store.write() as session:
        return landing_queue.join(session, run, is_urgent=is_urgent)


def _leave(store: Store, run: Run) -> None:
    with store.write() as session:
        landing_queue.leave(session, run)


def _turns(store: Store, run: Run) -> int:
    with store.read() as session:
        told = [one.event for one in history(session, run.address)]
    return sum(isinstance(event, LandingTurn) and not event.ahead for event in told)


def test_each_run_knows_who_is_ahead_and_the_next_gets_the_turn_when_the_first_leaves(store: Store) -> None:
    one, two, three = (_run(store, name) for name in ("one", "two", "three"))
    other = _run(store, "other", branch="release")
    assert [_join(store, run) for run in (one, two, three, two, other)] == [
        (), ("one",), ("one", "two"), ("one",), (),
    ]  # fmt: skip
    _leave(store, one)
    assert [_turns(store, run) for run in (one, two, three, other)] == [0, 1, 0, 0]
    _leave(store, one)
    assert _join(store, one) == ("two", "three")
    _leave(store, three)
    assert [_turns(store, run) for run in (one, two, three)] == [0, 1, 0]
    _leave(store, two)
    assert [_turns(store, run) for run in (one, two, three)] == [1, 1, 0]


def test_an_urgent_run_goes_behind_the_first_and_never_before_it(store: Store) -> None:
    one, two, three, four = (_run(store, name) for name in ("one", "two", "three", "four"))
    for run in (one, two):
        _join(store, run)
    assert _join(store, three, is_urgent=True) == ("one",)
    with store.write() as session:
        assert landing_queue.ahead_of(session, two) == ("one", "three")
        assert landing_queue.to_front(session, two) == ("one",)
        assert landing_queue.to_front(session, one) == ()
        assert landing_queue.to_front(session, four) is None


@pytest.mark.parametrize("where", ["postgres"], indirect=True)
def test_of_runs_that_join_and_leave_at_once_each_gets_exactly_one_turn(store: Store) -> None:
    everyone = [_run(store, f"run{number}") for number in range(8)]
    alone: list[str] = []

    def land(run: Run) -> None:
        if not _join(store, run):
            alone.append(run.run)
        while run.run not in alone and not _turns(store, run):
            pass
        _leave(store, run)

    threads = [threading.Thread(target=land, args=(run,)) for run in everyone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert len(alone) + sum(_turns(store, run) for run in everyone) == len(everyone)
