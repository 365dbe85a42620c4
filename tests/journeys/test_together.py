"""What only shows when all phases are there: one that undoes another, and what a last verifier finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import TogetherJudged
from asbuilt.journal.blobs import Blobs
from tests.journeys.shop import PLAN, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
APART = "the phases pass one by one, but not together"
OPENS = "Next: `asbuilt plan mark plan {} pending`, then `asbuilt run plan{}`"
UNDOES = (
    '{ write = "greet.py", text = "" }', '{ write = "part.py", text = "goodbye" }', '{ say = "done" }',
)  # fmt: skip


@pytest.fixture(autouse=True)
def two_phases(shop: Shop) -> None:
    """Let the plan have two phases."""
    shop.commit("plan.md", PLAN[: PLAN.index("## Phase 2b")], "shorter")


@killed_at("together.judging", "together.judged")
def test_a_last_verifier_judges_every_phase_beside_the_others(shop: Shop, point: str) -> None:
    shop.lands("greet.py", "part.py", "plan.md")
    run = shop.request(mode="finish", hold=False)
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Mark plan.md", "Part", "Greet", "shorter", "start"]
    (judged,) = shop.events(TogetherJudged)
    items = json.loads(Blobs(shop.home / "blobs").get(judged.items or ""))
    assert [(text, outcome) for _, text, outcome, *_ in items] == [
        ("phase 1, Greet: still does what it promised", "PASS"),
        ("phase 2a, Part: still does what it promised", "PASS"),
        ("no phase reverts or contradicts the work of another phase", "PASS"),
        ("nothing is there twice: no second definition, import or file for the same purpose", "PASS"),
    ]


def test_a_phase_that_undoes_another_does_not_land(shop: Shop) -> None:
    shop.turn('phase = "2a"\nrole = "implement"', *UNDOES)
    run = shop.request(mode="finish", hold=False)
    shop.start()
    assert shop.over(run) == (
        "failed",
        f"{APART}: grep -q hello greet.py: FAIL, exit 1 {OPENS.format('1', '')}",
    )
    assert "together.judging" not in shop.kinds()


def test_what_the_last_verifier_finds_is_not_landed(shop: Shop) -> None:
    finds = '{ verdict = "fail", items = [4], why = "greet.py and part.py both greet" }'
    shop.turn('phase = "all_phases"\nrole = "verify"', finds)
    run = shop.request(mode="finish", hold=False)
    shop.start()
    twice = "item 4, nothing is there twice: no second definition, import or file for the same purpose"
    opens = OPENS.format("2a", ' -m "what to change"')
    assert shop.over(run) == ("failed", f"{APART}: {twice}: FAIL, greet.py and part.py both greet {opens}")
    assert shop.log() == ["shorter", "start"]
