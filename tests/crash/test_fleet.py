from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING

import psycopg
import pytest

from asbuilt.events.landings import LandingDone, LandingIntended
from asbuilt.events.phases import PhaseForked, PhaseJoined, PhaseProven
from asbuilt.events.runs import RunTakenOver
from tests.crash.fleet import Fleet
from tests.crash.invariants import broken
from tests.crash.partition import CANNOT, Partition
from tests.journal.conftest import postgres, where
from tests.journeys.conftest import shop
from tests.journeys.shop import ALL, LANDED, LONG, SCRIPT, Shop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["postgres", "shop", "where"]
pytestmark = [pytest.mark.crash, pytest.mark.parametrize("where", ["postgres"], indirect=True)]
POINTS = (
    "attempt.begun", "landing.intended", "attempt.ended", "run.started", "workspace.made", "tree.kept",
    "checks.done", "verdict.given", "phase.proven", "together.done", "landing.done", "plan.marked",
)  # fmt: skip


@pytest.fixture
def fleet(shop: Shop, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(shop, tmp_path)
    yield made
    made.close()


HANGS = '[[turn]]\nacts = [{ say = "here" }, { hang = true }]\n'


def _points() -> list[tuple[str, str]]:
    """Stop it at every point, and wake it while the other works and when it has ended; the slice at two."""
    every = [(point, wakes) for point in POINTS for wakes in ("late", "soon")]
    return every if LONG else [("attempt.begun", "late"), ("landing.intended", "soon")]


@pytest.mark.parametrize(("point", "wakes"), _points())
def test_a_worker_that_is_stopped_is_replaced_and_does_nothing_more_when_it_wakes(
    fleet: Fleet, point: str, wakes: str
) -> None:
    shop = fleet.shop
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    fleet.start("first")
    shop.until(lambda: point in shop.kinds())
    fleet.signal("first", signal.SIGSTOP)
    fleet.start("second")
    shop.until(lambda: "run.taken_over" in shop.kinds())
    if wakes == "late":
        # It may hold the repository, which the other waits for and then tries again.
        shop.until(lambda: shop.run(run).is_over or "trouble.met" in shop.kinds())
    before = fleet.heard()
    fleet.signal("first", signal.SIGCONT)
    assert shop.over(run) == ("landed", "")
    landed = shop.git("rev-parse", "main")
    shop.until(lambda: len(fleet.heard() - before) == 2)
    fleet.at_rest()
    assert (shop.log(), shop.git("rev-parse", "main")) == (["Mark plan.md", "Greet", "start"], landed)
    (moved,) = shop.events(RunTakenOver)
    assert sorted(fleet.names()) == sorted((moved.lost or "", moved.by or ""))
    assert fleet.starts("1.1") <= 2
    # What the lost worker had in hand stays in its own state folder until somebody cleans there.
    assert broken(shop, leaves=[run]) == []


LANES = ("phase.forked", "phase.joined", "phase.merged", "phase.proven")


@pytest.mark.parametrize("how", ["killed", "stopped"])
@pytest.mark.parametrize("point", LANES if LONG else LANES[:2])
def test_a_worker_that_is_lost_among_lanes_is_replaced_in_each_of_them(
    fleet: Fleet, point: str, how: str
) -> None:
    shop = fleet.shop
    shop.lands(*LANDED)
    run = shop.request(mode="finish", hold=False, lanes=2)
    fleet.start("first")
    shop.until(lambda: point in shop.kinds() and shop.events(PhaseForked))
    fleet.signal("first", signal.SIGKILL if how == "killed" else signal.SIGSTOP)
    fleet.start("second")
    shop.until(lambda: "run.taken_over" in shop.kinds())
    if how == "stopped":
        fleet.signal("first", signal.SIGCONT)
    assert shop.over(run) == ("landed", "")
    assert sorted(shop.log()) == sorted(ALL)
    # A phase that is left alone has no lane: the run's own chain may be taken over last.
    forks = sorted(one.phase for one in shop.events(PhaseForked))
    assert forks == sorted(one.phase for one in shop.events(PhaseJoined))
    assert forks in (["2a"], ["2a", "2b"])
    assert sorted(one.phase for one in shop.events(PhaseProven)) == ["1", "2a", "2b", "3"]
    if how == "stopped":
        fleet.at_rest()
    assert broken(shop, leaves=[run]) == []


def test_a_worker_that_starts_while_a_segment_is_locked_waits_for_it(fleet: Fleet) -> None:
    shop = fleet.shop
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    with psycopg.connect(shop.where) as connection:
        connection.execute("UPDATE asbuilt.segments SET due_at = due_at WHERE run = %s", [run])
        fleet.start("first")
        shop.until(lambda: _is_waited_for(shop, connection.info.backend_pid), within_s=60)
        # Longer than the limit of a wait for a lock, which is 10 s.
        shop.until(lambda: not _is_waited_for(shop, connection.info.backend_pid), within_s=60)
        assert fleet.processes["first"].poll() is None
    assert shop.over(run) == ("landed", "")


def _is_waited_for(shop: Shop, holder: int) -> bool:
    """Return whether a session waits for a lock that another one holds."""
    with psycopg.connect(shop.where) as connection:
        asked = "SELECT pid FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"
        return bool(connection.execute(asked, [holder]).fetchall())


FREEZES = """\
#!/bin/sh
case " $* " in
*" push "*) if mkdir {mark} 2>/dev/null; then echo $$ > {mark}/pid; kill -STOP $PPID $$; fi ;;
esac
exec {git} "$@"
"""
"""A git that stops its worker and itself when it is about to move a branch for the first time."""


def test_a_worker_that_freezes_with_its_mover_and_wakes_late_lands_nothing_twice(
    fleet: Fleet, tmp_path: Path
) -> None:
    shop, git, mark = fleet.shop, tmp_path / "bin" / "git", tmp_path / "frozen"
    git.parent.mkdir()
    git.write_text(FREEZES.format(mark=mark, git=shutil.which("git")), encoding="ascii")
    git.chmod(0o700)
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    fleet.start("first", PATH=f"{git.parent}:{os.environ['PATH']}")
    shop.until((mark / "pid").exists)
    fleet.start("second")
    shop.until(lambda: "run.taken_over" in shop.kinds())
    fleet.signal("first", signal.SIGCONT)
    os.kill(int((mark / "pid").read_text("ascii")), signal.SIGCONT)
    assert shop.over(run) == ("landed", "")
    fleet.at_rest()
    (intended,) = {event.new for event in shop.events(LandingIntended)}
    (landed,) = shop.events(LandingDone)
    assert landed.new == intended == shop.git("rev-parse", "main")
    assert broken(shop, leaves=[run]) == []


@pytest.mark.skipif(bool(CANNOT), reason=CANNOT)
def test_a_worker_that_is_cut_off_ends_its_agent_before_another_worker_starts_one(fleet: Fleet) -> None:
    shop = fleet.shop
    shop.lands("greet.py", "plan.md")
    shop.script.write_text(HANGS, encoding="utf-8")
    run = shop.request(mode="phase")
    partition = Partition(shop.where)
    try:
        fleet.start("first", *partition.enter(), where=partition.url)
        shop.until(lambda: fleet.works("first", run))
        partition.cut()
        shop.script.write_text(SCRIPT, encoding="utf-8")
        fleet.start("second")
        shop.until(lambda: "run.taken_over" in shop.kinds())
        assert not fleet.works("first", run)
        assert shop.over(run) == ("landed", "")
        before = fleet.heard()
        partition.heal()
        shop.until(lambda: len(fleet.heard() - before) == 2)
        fleet.at_rest()
    finally:
        fleet.close()
        partition.close()
    assert shop.log() == ["Mark plan.md", "Greet", "start"]
    assert fleet.starts("1.1") == 2
    assert broken(shop, leaves=[run]) == []


def test_a_worker_that_is_asked_to_end_goes_on_when_it_is_back_and_is_replaced_when_it_is_not(
    fleet: Fleet,
) -> None:
    shop = fleet.shop
    shop.lands("greet.py", "plan.md")
    shop.script.write_text(HANGS, encoding="utf-8")
    run = shop.request(mode="phase")
    fleet.start("first", ASBUILT_TEST_TIMES="1 120 180")
    shop.until(lambda: fleet.works("first", run))
    assert fleet.ended("first") == 0
    fleet.start("first", ASBUILT_TEST_TIMES="1 120 180")
    before = fleet.heard()
    shop.until(lambda: fleet.heard() != before)
    assert (fleet.works("first", run), fleet.starts("1.1")) == (True, 1)
    assert fleet.ended("first") == 0
    shop.script.write_text(SCRIPT, encoding="utf-8")
    fleet.start("second")
    assert shop.over(run) == ("landed", "")
    # The agent of the one that ended was left alone, in a workspace that nobody else uses.
    assert (fleet.works("first", run), fleet.starts("1.1")) == (True, 2)
    assert shop.log() == ["Mark plan.md", "Greet", "start"]
