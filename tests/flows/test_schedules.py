"""Schedules in the journal, on both databases: one a plan, a slot at most once, gone with their plan."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import pytest
from msgspec import structs

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.events.options import RunOptions
from asbuilt.events.schedules import ScheduleEnded
from asbuilt.flows.kinds import Performer
from asbuilt.flows.requests import Asker, stop
from asbuilt.flows.run import environment
from asbuilt.flows.run_end import end
from asbuilt.flows.schedule import Schedules, cancel, clear, room_of, schedule
from asbuilt.flows.segment import Runs
from asbuilt.journal import claims, runs, schedules
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import history
from asbuilt.journal.home import Home, open_home
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.limits import TRANSIENT_LIMIT
from asbuilt.lifecycle.run.retry_times import moment, written
from tests.journal.conftest import PLAN, postgres, store, where

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asbuilt.journal.database.store import Store
    from asbuilt.journal.schedules import Schedule

__all__ = ["postgres", "store", "where"]
ANN = Asker("ann", "here", {"PATH": "/bin", "LANG": "C.UTF-8"})
OPTIONS = RunOptions(slug="rate-limit", branch="main", auto=True, host="old")
Answer = TypeVar("Answer")
LONG_AGO = "2026-01-01T00:00:00.000Z"


def _ask(store: Store, home: Home, cadence: str = "4h") -> Schedule:
    asked = schedule(
        store,
        home,
        PLAN,
        slug="rate-limit",
        cadence=cadence,
        zone="UTC",
        options=OPTIONS,
        asker=ANN,
    )
    return asked.schedule


def _make_due(store: Store, slot: str = LONG_AGO) -> None:
    with store.write() as session:
        session.run("UPDATE schedules SET slot = :slot, due_at = :slot, set_at = :slot", slot=slot)


def _all(store: Store) -> list[Schedule]:
    with store.read() as session:
        return schedules.every(session, LOCAL)


def _kinds(store: Store) -> list[str]:
    with store.read() as session:
        return [one.kind for one in history(session, PLAN) if one.kind.startswith("schedule.")]


def _ended(store: Store) -> list[str]:
    """Tell why schedules are over."""
    with store.read() as session:
        told = [one.event for one in history(session, PLAN)]
    return [event.reason for event in told if isinstance(event, ScheduleEnded)]


def _hours(one: Schedule) -> float:
    return (moment(one.slot) - moment(one.since)).total_seconds() / 3_600


def test_a_cadence_takes_the_place_of_the_one_before(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    first, second = _ask(store, home), _ask(store, home, "30m")
    assert (_hours(first), _hours(second), _all(store)) == (4.0, 0.5, [second])
    assert _kinds(store) == ["schedule.set", "schedule.set"]
    assert first.schedule != second.schedule


def test_a_due_schedule_sends_one_run_off_as_it_was_asked_for(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    asked = _ask(store, home)
    worker = Schedules(store, home, org=LOCAL)
    with store.read() as session:
        assert (worker.is_due(session), worker.is_any(session)) == (False, True)
    assert worker.fire() == []
    _make_due(store)
    with store.read() as session:
        assert worker.is_due(session)
    (run,) = worker.fire()
    assert structs.replace(run.options, host="old") == OPTIONS
    assert run.options.host != "old"
    assert environment.kept(home.runs / run.run) == {"PATH": "/bin", "LANG": "C.UTF-8"}
    (after,) = _all(store)
    assert after == asked._replace(slot=after.slot, due_at=after.slot, set_at=after.set_at)
    assert (moment(after.slot) - moment(asked.since)).total_seconds() % (4 * 3_600) == 0
    assert moment(asked.since) < moment(after.slot)
    assert worker.fire() == []


def test_a_slot_that_has_fired_never_fires_again(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    _ask(store, home)
    worker = Schedules(store, home, org=LOCAL)
    _make_due(store)
    (run,) = worker.fire()
    with store.write() as session:
        end(session, run, "landed", "")
    _make_due(store)
    assert worker.fire() == []
    _make_due(store, "2026-01-01T04:00:00.000Z")
    assert len(worker.fire()) == 1
    assert _kinds(store) == ["schedule.set", "schedule.fired", "schedule.moved", "schedule.fired"]


def test_a_plan_at_work_defers_its_schedule_and_the_slot_is_not_lost(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    asked = _ask(store, home)
    with store.write() as session:
        claims.acquire(session, PLAN, run="other", mode="finish", host="here", actor="ann")
        claims.set_phase(session, PLAN, run="other", phase="2a")
    worker = Schedules(store, home, org=LOCAL)
    waits, one = [], asked
    for _ in range(27):
        with store.write() as session:
            session.run("UPDATE schedules SET slot = :slot, due_at = :slot", slot=LONG_AGO)
        assert worker.fire() == []
        (one,) = _all(store)
        waits.append(round((moment(one.due_at) - moment(one.set_at)).total_seconds() / 60))
    assert waits == [1] * 9 + [10] * 6 + [30] * 10 + [60] * 2
    (one,) = _all(store)
    assert (one.phase, one.deferrals, one.slot) == ("2a", 27, LONG_AGO)
    with store.write() as session:
        claims.release(session, PLAN, run="other", actor="ann")
        session.run("UPDATE schedules SET due_at = :due", due=LONG_AGO)
    assert len(worker.fire()) == 1
    (one,) = _all(store)
    assert (one.phase, one.deferrals, one.schedule) == (None, 0, asked.schedule)


def test_a_clock_that_was_ahead_and_is_put_back_leaves_the_next_slot_where_it_belongs(
    store: Store, tmp_path: Path
) -> None:
    asked = _ask(store, Home(tmp_path))
    worker = Schedules(store, Home(tmp_path), org=LOCAL)
    ahead = written(moment(asked.since) + timedelta(days=30))
    with store.write() as session:
        session.run("UPDATE schedules SET slot = :ahead, due_at = :ahead, set_at = :ahead", ahead=ahead)
    assert worker.fire() == []
    (one,) = _all(store)
    assert one == asked._replace(set_at=one.set_at)
    assert _kinds(store) == ["schedule.set", "schedule.moved"]


def test_a_schedule_whose_time_cannot_be_computed_is_over_and_says_so(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    for column, value in (("zone", "Nowhere/Else"), ("cadence", "at full moon")):
        _ask(store, home)
        _make_due(store)
        with store.write() as session:
            session.run(f"UPDATE schedules SET {column} = :value", value=value)
        assert Schedules(store, home, org=LOCAL).fire() == []
        assert (_all(store), room_of(home, PLAN).exists()) == ([], False)
    assert [reason.partition(": ")[0] for reason in _ended(store)] == [
        "its next time cannot be computed here"
    ] * 2


def test_a_run_that_fails_or_completes_its_plan_ends_the_schedule(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    worker = Schedules(store, home, org=LOCAL)
    for number, (state, is_complete) in enumerate([("failed", False), ("stopped", False), ("landed", True)]):
        _ask(store, home)
        _make_due(store, f"2026-01-0{number + 1}T00:00:00.000Z")
        (run,) = worker.fire()
        with store.write() as session:
            end(session, run, state, "why", is_complete=is_complete)
        assert _all(store) == []
    with store.read() as session:
        assert [run.state for run in runs.of_plan(session, PLAN)] == ["landed", "stopped", "failed"]
    assert _ended(store) == ["its run failed", "its run was stopped", "the plan is complete"]


def test_a_phase_that_lands_leaves_the_schedule_as_it_is(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    asked = _ask(store, home)
    _make_due(store)
    (run,) = Schedules(store, home, org=LOCAL).fire()
    with store.write() as session:
        end(session, run, "landed", "")
    assert [one.schedule for one in _all(store)] == [asked.schedule]


@pytest.mark.parametrize("way", ["stopped", "given up"])
def test_what_the_runs_of_a_schedule_would_see_is_gone_when_its_run_ends_it(
    store: Store, tmp_path: Path, way: str
) -> None:
    home = open_home(tmp_path)
    _ask(store, home)
    _make_due(store)
    (run,) = Schedules(store, home, org=LOCAL).fire()
    blobs = Blobs(home.blobs)
    attempts = FolderAttempts(home.path, sandbox_required=False)
    processes = SandboxProcesses(scratch=home.scratch, homes=())
    flow = Runs(store, blobs, Performer(home, store, blobs, attempts, processes), step=_step)
    assert room_of(home, PLAN).is_dir()
    if way == "stopped":
        stop(store, run, reason="enough", asker=ANN)
        flow.segment(*run.address[:2], run.run, 1)
    for _ in range(TRANSIENT_LIMIT + 1 if way == "given up" else 0):
        with store.read() as session:
            (segment,) = runs.open_segments(session, LOCAL)
        flow.lost(segment, "ERROR, boom")
    assert (_all(store), room_of(home, PLAN).exists()) == ([], False)
    assert environment.kept(home.runs / run.run) == ANN.environ


def test_what_a_killed_stop_has_left_behind_is_cleared_and_what_a_schedule_needs_is_not(
    store: Store, tmp_path: Path
) -> None:
    home = Home(tmp_path)
    asked = _ask(store, home)
    clear(store, home, PLAN)
    assert (_all(store), environment.kept(room_of(home, PLAN))) == ([asked], ANN.environ)
    with store.write() as session:
        schedules.end(session, PLAN, reason="enough", actor="ann")
    assert cancel(store, home, PLAN, reason="enough", asker=ANN) is None
    assert not room_of(home, PLAN).exists()


def _step(name: str, act: Callable[..., Answer], *arguments: object) -> Answer:
    del name
    return act(*arguments)


def test_what_is_cancelled_is_gone_with_what_its_runs_would_see(store: Store, tmp_path: Path) -> None:
    home = Home(tmp_path)
    asked = _ask(store, home)
    assert room_of(home, PLAN).is_dir()
    assert cancel(store, home, PLAN, reason="enough", asker=ANN) == asked
    assert cancel(store, home, PLAN, reason="enough", asker=ANN) is None
    assert (_all(store), room_of(home, PLAN).exists(), _kinds(store)) == (
        [], False, ["schedule.set", "schedule.ended"],
    )  # fmt: skip
