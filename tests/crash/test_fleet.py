from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.crash.fleet import Fleet
from tests.crash.invariants import broken
from tests.journal.conftest import postgres, where
from tests.journeys.conftest import shop
from tests.journeys.shop import LONG, Shop

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
    (moved,) = shop.events("run.taken_over")
    assert sorted(fleet.names()) == sorted((moved["lost"], moved["by"]))
    assert fleet.starts("1.1") <= 2
    # What the lost worker had in hand stays in its own state folder until somebody cleans there.
    assert broken(shop, leaves=[run]) == []
