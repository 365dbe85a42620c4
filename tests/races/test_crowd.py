from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.landings import LandingDone
from tests.journeys.shop import LONG
from tests.races.arena import held
from tests.races.crowd import Crowd

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crash
WORKERS, EACH = (8, 25) if LONG else (3, 3)


@pytest.mark.parametrize("where", ["sqlite", "postgres"], indirect=True)
def test_the_runs_of_many_workers_land_on_one_branch_each_once(tmp_path: Path, where: str) -> None:
    shared = where if where.startswith("postgresql:") else None
    crowd = Crowd(tmp_path, workers=WORKERS, runs_each=EACH, shared=shared)
    try:
        crowd.ask()
        crowd.start()
        assert crowd.over(within_s=300 + WORKERS * EACH * 30) == {"landed": WORKERS * EACH}
    finally:
        crowd.close()
    assert crowd.landed() == {run: 1 for _, run in crowd.asked}
    assert crowd.told(LandingDone) == WORKERS * EACH
    assert crowd.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
    assert [*(crowd.checkout / ".git").rglob("*.lock")] == []
    untracked = [f"?? {name}.md" for names in crowd.names[1::2] for name in names]
    assert crowd.git("status", "--porcelain").splitlines() == sorted(untracked)
    held(f"{EACH} runs of each of {WORKERS} workers", "postgres" if shared else "sqlite", WORKERS * EACH)
