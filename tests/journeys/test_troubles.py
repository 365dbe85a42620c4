from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, AttemptEnded
from asbuilt.events.runs import RunParked, TroubleMet
from tests.crash.invariants import broken
from tests.git.shop import killed_once
from tests.journeys.shop import one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash


def test_an_attempt_whose_host_cannot_come_up_parks_the_run_until_it_can(shop: Shop) -> None:
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    in_the_way = shop.attempt(run, "1.1") / "lock"
    in_the_way.mkdir(parents=True)
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    in_the_way.rmdir()
    (met,) = shop.events(TroubleMet)
    (parked,) = shop.events(RunParked)
    assert met.what.startswith(f"the host of {run}.1.1 did not come up (exit 1)")
    assert parked.until == met.retry_at
    assert shop.over(run) == ("landed", "")
    assert len(shop.events(AttemptBegun)) == 1


@one_store
@pytest.mark.parametrize("word", ["worktree", "write-tree", "update-ref"])
def test_a_git_that_is_killed_parks_the_run_which_then_does_that_step_again(shop: Shop, word: str) -> None:
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start(PATH=killed_once(shop.home.parent / "killed", "git", word))
    assert shop.over(run) == ("landed", "")
    (met,) = shop.events(TroubleMet)
    assert met.what.endswith("Why: git was ended by signal 9.")
    shop.kill()
    assert broken(shop) == []


@pytest.mark.parametrize("point", ["run.started", "attempt.begun", "checks.done"])
def test_a_store_that_is_gone_for_a_while_breaks_a_segment_off_and_loses_nothing(
    shop: Shop, point: str
) -> None:
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start()
    shop.until(lambda: point in shop.kinds())
    blobs, away = shop.home / "blobs", shop.home / "blobs.away"
    blobs.rename(away)
    blobs.touch()
    shop.until(lambda: shop.events(TroubleMet) or shop.run(run).is_over)
    blobs.unlink()
    away.rename(blobs)
    assert shop.over(run) == ("landed", "")
    assert len(shop.events(AttemptBegun)) == 1


def test_a_host_that_dies_every_time_is_given_up_with_words(shop: Shop) -> None:
    shop.turn('phase = "1"\nrole = "implement"', "{ kill_host = true }")
    run = shop.request(mode="phase")
    shop.start()
    assert shop.over(run) == (
        "failed",
        "phase 1: crashed 3 times; last: Its host was lost 5 times before the agent ended.",
    )
    assert [event.starts for event in shop.events(AttemptEnded)] == [5, 5, 5]
