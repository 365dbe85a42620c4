"""What becomes of a number that a plan states and that is another one: measured, asked about, put right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import DriftFound
from tests.journeys.shop import PLAN, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
CHECK = "`wc -l < greet.py`"
IMPLEMENT, FIX = 'phase = "1"\nrole = "implement"', 'phase = "1"\nrole = "fix"'


def states(shop: Shop, criterion: str, lines: int, *, before: str = "", flagged: bool = True) -> None:
    """Let phase 1 state a number of lines, and an agent write so many and point at it with its own number."""
    stated = f"{before}- [ ] {CHECK} prints {criterion}\n"
    criteria = f"### Acceptance Criteria\n{stated}### Verification\n- {CHECK}\n"
    shop.commit("plan.md", PLAN.replace("### Verification\n", criteria, 1), "numbers")
    write = '{ write = "greet.py", text = "print(1)  # hello\\n" }'
    more = ['{ append = "greet.py", text = "# hello\\n" }'] * (lines - 1)
    token = f'{{ drift = "lines", bullet = 1, plan = "{criterion}", actual = "7" }}'
    shop.turn(IMPLEMENT, write, *more, *([token] if flagged else []))


def criterion_of(shop: Shop) -> str:
    plan = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    return next(line for line in plan.splitlines() if line.startswith(f"- [ ] {CHECK}"))


@killed_at("drift.found", "approval.answered", "phase.proven")
def test_a_number_on_which_the_verdict_turns_is_corrected_by_a_person_alone(shop: Shop, point: str) -> None:
    states(shop, "at most 2", 3)
    shop.lands("greet.py", "plan.md")
    run = shop.request(auto=False, hold=False)
    shop.start()
    if point == "drift.found":
        shop.until(lambda: point in shop.kinds())
        shop.kill()
        shop.start()
    shop.until(lambda: "approval.asked" in shop.kinds())
    words = "the plan says 2, and `wc -l < greet.py` gives 3"
    diff = f"- - [ ] {CHECK} prints at most 2\n+ - [ ] {CHECK} prints at most 3"
    assert shop.answer(run, "yes") == [f"correct phase 1 of the plan? {words}\n{diff}"]
    if point not in ("", "drift.found"):
        shop.until(lambda: point in shop.kinds())
        shop.kill()
        shop.start()
    assert shop.over(run) == ("landed", "")
    line, _, audit = criterion_of(shop).partition(" <!-- ")
    assert line == f"- [ ] {CHECK} prints at most 3"
    assert [one.far for one in shop.events(DriftFound)] == [1]
    assert re.fullmatch(r"Auto-corrected \d{4}-\d\d-\d\d: was 2, measured 3 -->", audit)


def test_a_no_leaves_the_plan_as_it_was_and_the_work_is_mended(shop: Shop) -> None:
    states(shop, "at most 2", 3)
    shop.turn(FIX, '{ write = "greet.py", text = "print(1)  # hello\\n" }')
    shop.lands("greet.py", "plan.md")
    run = shop.request(auto=False, hold=False)
    shop.start()
    shop.until(lambda: "approval.asked" in shop.kinds())
    shop.answer(run, "no")
    assert shop.over(run) == ("landed", "")
    assert criterion_of(shop) == f"- [ ] {CHECK} prints at most 2"


def test_unattended_what_was_meant_roughly_is_put_right_with_our_number(shop: Shop) -> None:
    states(shop, "about 10", 11)
    shop.lands("greet.py", "plan.md")
    run = shop.request()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert criterion_of(shop).endswith(": was 10, measured 11 -->")
    assert [(one.asks, one.far) for one in shop.events(DriftFound)] == [((), 0)]
    assert "approval.asked" not in shop.kinds()


def test_what_the_verifier_points_at_is_measured_by_asbuilt_and_an_unreadable_line_is_reported(
    shop: Shop,
) -> None:
    states(shop, "about 10", 11, flagged=False)
    bad = "PLAN-TEXT-DRIFT: phase=1 bullet=0 field=lines plan=10 actual=12"
    flag = '{ drift = "lines", bullet = 1, plan = "about 10", actual = "12" }'
    shop.turn('phase = "1"\nrole = "verify"', f'{{ say = "{bad}" }}', flag, '{ verdict = "pass" }')
    shop.lands("greet.py", "plan.md")
    run = shop.request()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert criterion_of(shop).endswith(": was 10, measured 11 -->")
    (found,) = shop.events(DriftFound)
    assert found.notes == (f"an agent's word on drift cannot be read: {bad}",)


def test_a_number_that_was_corrected_before_and_is_pointed_at_again_stops_the_run(shop: Shop) -> None:
    states(shop, "at most 2 <!-- Auto-corrected 2026-11-15: was 1, measured 2 -->", 3)
    run = shop.request(auto=False)
    shop.start()
    words = "phase 1: the plan says 2, and `wc -l < greet.py` gives 3; it was corrected before"
    assert shop.over(run) == ("failed", f"{words}. Next: check the measurement and edit the plan")
    assert "approval.asked" not in shop.kinds()


def test_a_bullet_is_counted_among_the_criteria_that_have_a_digit(shop: Shop) -> None:
    states(shop, "about 10", 11, before="- [ ] It reads well\n")
    shop.lands("greet.py", "plan.md")
    run = shop.request()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert criterion_of(shop).endswith(": was 10, measured 11 -->")
    assert shop.events(DriftFound)[0].notes == ()
