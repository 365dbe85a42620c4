"""The invariants see what they are for: each is planted once in a world that was whole."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.journal import claims, runs
from asbuilt.journal.ids import Segment
from asbuilt.journal.runs import FAR
from tests.crash.invariants import broken
from tests.journal.conftest import postgres, where
from tests.journeys.conftest import shop
from tests.journeys.shop import LANDED, REPO

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

__all__ = ["postgres", "shop", "where"]
pytestmark = pytest.mark.crash
only_sqlite = pytest.mark.parametrize("where", ["sqlite"], indirect=True)


@only_sqlite
def test_a_world_that_was_whole_is_told_apart_from_each_way_to_break_it(shop: Shop) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish")
    shop.start()
    assert shop.over(run) == ("landed", "")
    shop.kill()
    assert broken(shop) == []

    bystander = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)", run], env={**os.environ, "RUN": run}
    )
    (shop.checkout / ".git/index.lock").touch()
    (shop.home / "workspaces" / REPO / run / "main").mkdir(parents=True)
    tip, plan = shop.git("rev-parse", "HEAD"), (shop.checkout / "plan.md").read_text(encoding="utf-8")
    marks, both = shop.git("rev-parse", "HEAD^{tree}"), shop.git("log", "-1", "--format=%B", "HEAD~1")
    doubled = shop.git("commit-tree", "-p", "HEAD", "-m", both, marks)
    shop.git("update-ref", "refs/heads/main", doubled)
    with shop.store.write() as session:
        runs.plan_segment(session, Segment("local", REPO, run, 9, FAR, "planted"))
        claims.acquire(session, shop.address, run=run, mode="finish", host="here", actor="you")
    seen = [f"{how}: {what}" for how, what in broken(shop)]
    bystander.kill()
    bystander.wait()
    assert [line.partition(" of ")[0].partition(run)[0] for line in seen] == [
        "doubled: phase 3",
        "left: a lock is left: .git/index.lock",
        "left: a workspace",
        f"orphan: {sys.executable} -c import time; time.sleep(60) ",
        "bricked: run ",
        "bricked: ",
    ]

    (shop.checkout / ".git/index.lock").unlink()
    shop.git("update-ref", "refs/heads/main", shop.git("rev-parse", f"{tip}~3"))
    (shop.checkout / "plan.md").write_text(plan.replace("[x]", "[ ]"), encoding="utf-8")
    hows = [how for how, _ in broken(shop)]
    assert hows.count("lost") == 2
    assert "torn" in hows
    shop.before = None
