"""What a run may cost is told from what phases have cost in this repository, and from nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.phases import BaselineDone, TestsResolved
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.queries.spending import past_of
from asbuilt.lifecycle.run.money import Spent, forecast
from tests.cli.nights import REPO, Night
from tests.cli.screens import a_night, shown

if TYPE_CHECKING:
    from pathlib import Path

NORMAL = "normal: suite, canaries, checks, the base's tests, trials"


def test_a_forecast_goes_by_the_phases_that_were_proven_here() -> None:
    with a_night() as night, night.store.read() as session:
        past = past_of(session, LOCAL, REPO)
        elsewhere = past_of(session, LOCAL, "another")
    assert sorted(one.usd for one in past.spent) == [0.84, 0.9, 1.12, 2.77, 6.31]
    assert forecast(past.spent, 3) == "about $3.36, at most $18.93, from 5 phases proven here"
    assert forecast(elsewhere.spent, 3) is None


def test_what_is_unknown_or_free_is_no_ground_for_a_forecast() -> None:
    assert forecast([Spent(), Spent(usd_unreported=1), Spent(2.0, usd_unreported=1)], 2) is None
    assert forecast([Spent(2.0), Spent(usd_unreported=1)], 2) == "about $4.00, from 1 phase proven here"
    assert forecast([Spent(2.0)], 0) is None


@pytest.mark.parametrize(
    ("depth", "words"),
    [
        (
            "normal",
            f"{NORMAL}; at most about 62 s a phase, 90 s where tests change",
        ),
        ("quick", "quick: suite, canaries, checks; at most about 49 s a phase"),
        (
            "strict",
            "strict: suite, canaries, checks, the base's tests, every trial uncut; the suite takes 41 s",
        ),
    ],
)
def test_a_plan_says_how_its_phases_are_proven_and_how_long_that_takes(
    tmp_path: Path, shop: Path, depth: str, words: str
) -> None:
    plan = shop / "plans/shop.md"
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text("# Shop\n\n## Phase 1 — Cart\n\n### Verification\n\n- `true`\n", encoding="utf-8")
    (shop / "asbuilt.toml").write_text('checks.tests = "pytest -q"\n', encoding="utf-8")
    night = Night(tmp_path, shop)
    try:
        first = shown(night, ("plan", "show", "shop"), "plain", 200)
        story = night.plan("other", "20:00:00", {"1": ("Cart", [])})
        story.append("20:01:00", BaselineDone(outcome="PASS", why="40 ran", took_s=41.0), "baseline/2")
        later = shown(night, ("plan", "show", "shop"), "plain", 200, ASBUILT_PROOF_DEPTH=depth)
        dry = ("run", "shop", "--dry-run", "--agent", "scripted", "--script", os.devnull)
        rehearsed = shown(night, dry, "plain", 200, ASBUILT_PROOF_DEPTH=depth)
        story.append("20:02:00", TestsResolved(source="given"), "tests/2")
        removed = shown(night, ("plan", "show", "shop"), "plain", 200)
    finally:
        night.close()
    assert "Proof" not in first
    assert "Proof" not in removed
    assert f"Proof {words}." in " ".join(later.split())
    assert f"Proof {words} Cost" in " ".join(rehearsed.split())
