"""What only shows when all phases are there: one that undoes another, and what a last verifier finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import ChecksDone, TogetherJudged
from asbuilt.journal.blobs import Blobs
from tests.journeys.shop import PLAN, STARTS_ALL, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
APART = "the phases pass one by one, but not together"
OPENS = "Next: `asbuilt plan mark plan {} pending &&` `asbuilt run plan{}`"
UNDOES = (
    '{ write = "greet.py", text = "" }', '{ write = "part.py", text = "goodbye" }', '{ say = "done" }',
)  # fmt: skip

SUMS = "def add(a, b):\n    return a + b\n"
OFF = "def add(a, b):\n    return a + b + 0.001\n"
TESTS = """\
import unittest
from sums import add


class Sums(unittest.TestCase):
    def test_close(self):
        self.assertAlmostEqual(add(1, 2), 3, places=7)

    def test_both(self):
        self.assertEqual(add(1, 1), 2)
        self.assertGreater(add(1, 1), 1)

    def test_files(self):
"""
TESTS += f"        self.assertEqual(__import__('os').system({STARTS_ALL!r}), 0)\n"


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


def test_phases_of_several_runs_are_judged_together_after_the_last(shop: Shop) -> None:
    shop.lands("greet.py", "part.py", "plan.md")
    shop.start()
    assert shop.over(shop.request(mode="phase", hold=True))[0] == "held"
    assert shop.events(TogetherJudged) == []
    assert shop.over(shop.request(mode="phase", hold=False)) == ("landed", "")
    assert [judged.outcome for judged in shop.events(TogetherJudged)] == ["PASS"]


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


@pytest.mark.parametrize(
    ("order", "at_once"),
    [("", True), ("- [ ] Loosen `test_close`; remove an assertion of `test_both`\n", True), ("", False)],
    ids=["unordered", "ordered", "landed one by one"],
)
def test_a_phase_fails_the_tests_that_an_earlier_one_has_loosened_unless_the_plan_orders_it(
    shop: Shop, order: str, *, at_once: bool
) -> None:
    plan = PLAN[: PLAN.index("## Phase 2b")].replace("says hello\n", f"says hello\n{order}")
    (shop.checkout / "tests").mkdir()
    for path, text in (("plan.md", f"{plan}\n"), ("sums.py", SUMS), ("tests/test_sums.py", TESTS)):
        shop.commit(path, text, path)
    looser = TESTS.replace("places=7", "places=1").replace("        self.assertEqual(add(1, 1), 2)\n", "")
    tests = f'{{ write = "tests/test_sums.py", text = {json.dumps(looser)} }}'
    off, right = (f'{{ write = "sums.py", text = {json.dumps(text)} }}' for text in (OFF, SUMS))
    part = '{ write = "part.py", text = "print(\'goodbye\')" }'
    shop.turn('phase = "1"\nrole = "implement"', '{ write = "greet.py", text = "print(\'hello\')" }', tests)
    shop.turn('phase = "2a"\nrole = "implement"', part, off)
    shop.turn('phase = "2a"\nrole = "fix"', right)
    shop.lands("greet.py", "part.py", "plan.md", "tests/test_sums.py", *(["sums.py"] if order else []))
    shop.start()
    for mode in ("finish",) if at_once else ("phase", "phase"):
        run = shop.request(mode=mode, hold=False, tests="python3 -m unittest discover tests")
        assert shop.over(run) == ("landed", "")
    failed = [done.failures for done in shop.events(ChecksDone) if done.outcome != "PASS"]
    said = "test_both: old test fails: it passed before an earlier phase changed it"
    assert [said in "\n".join(failures) for failures in failed] == ([] if order else [True])
    landed = shop.git("show", "main:sums.py")
    assert ("0.001" in landed) == bool(order)
