from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.pulls import PullShop, pulling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, pytest.mark.parametrize("where", ["sqlite"], indirect=True)]


@pytest.fixture
def pulls(shop: Shop, tmp_path: Path) -> Iterator[PullShop]:
    with pulling(shop, tmp_path) as made:
        yield made


def test_a_plan_becomes_one_merged_pull_request_and_leaves_nothing_behind(pulls: PullShop) -> None:
    assert pulls.ends() == ("landed", "")
    assert (pulls.pull.title, pulls.pull.branch, pulls.pull.base) == ("[plan] Greetings", "feat/plan", "main")
    assert pulls.log() == ["Mark plan.md", "Part", "Greet", "plan", "start"]
    assert pulls.hub.tip("feat/plan") is None
