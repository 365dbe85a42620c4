from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import ALL, LANDED

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash


@pytest.mark.parametrize(
    "point",
    [
        "run.started", "workspace.made", "phase.begun", "attempt.begun", "attempt.ended",
        "tree.kept", "checks.done", "verdict.given", "phase.proven", "landing.intended",
    ],
)  # fmt: skip
def test_a_worker_killed_at_any_point_is_followed_by_one_that_goes_on(shop: Shop, point: str) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish")
    shop.start()
    shop.until(lambda: point in shop.kinds())
    shop.kill()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL
