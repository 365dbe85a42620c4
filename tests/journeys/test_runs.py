from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import ALL, LANDED, PLAN, SCRIPT, killed_at

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash


@killed_at("report.written", "plan.compared", "plan.marked")
def test_one_phase_is_proven_and_lands(shop: Shop, point: str) -> None:
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert shop.git("log", "--format=%s|%an", "main").splitlines() == [
        "Mark plan.md|A Person",
        "Greet|A Person",
        "start|A Person",
    ]
    assert "**Status:**" not in (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "print('hello')\n"
    assert shop.git("status", "--short") == "?? mine.txt"


@killed_at("landing.done", "plan.marked", "phase.begun")
def test_an_untracked_plan_is_marked_where_it_lies_and_never_committed(shop: Shop, point: str) -> None:
    shop.git("rm", "-q", "--cached", "plan.md")
    shop.git("commit", "-qm", "the plan is mine")
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Greet", "the plan is mine", "start"]
    landed = shop.git("log", "-1", "--format=%H", "main")
    text = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert text == PLAN.replace("- [ ] `greet.py` says hello", f"- [x] `greet.py` says hello ({landed[:10]})")
    assert shop.git("status", "--short").splitlines() == ["?? mine.txt", "?? plan.md"]


@killed_at("landing.refused", "phase.proven", "run.ended")
def test_a_file_of_yours_in_the_way_is_kept_and_nothing_lands(shop: Shop, point: str) -> None:
    shop.write("greet.py", "mine too")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    state, reason = shop.over(run)
    assert state == "failed"
    assert "greet.py" in reason
    assert shop.log("cp-plan") == ["Greet", "start"]


def test_a_finish_goes_through_its_waves_fixes_what_fails_and_lands_once(shop: Shop) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish")
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL
    kinds = shop.kinds()
    counted = [kinds.count(kind) for kind in ("landing.done", "phase.proven", "attempt.begun")]
    assert counted == [1, 4, 5]


@killed_at("checks.done", "attempt.ended", "run.ended")
def test_a_phase_that_stays_wrong_after_two_fixes_ends_the_run_and_lands_nothing(
    shop: Shop, point: str
) -> None:
    shop.script.write_text(SCRIPT.replace("goodbye", "still wrong"), encoding="utf-8")
    run = shop.request(mode="finish")
    shop.start_killed(point)
    state, reason = shop.over(run)
    assert state == "failed"
    assert reason.startswith("phase 2a is not proven after 2 fixes: grep -q goodbye part.py: FAIL, exit 1")
    assert shop.log("cp-plan") == ["Greet", "start"]


def test_without_auto_it_asks_between_phases_with_no_worker_alive_and_lands_nothing(shop: Shop) -> None:
    run = shop.request(mode="finish", auto=False)
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    shop.kill()
    assert shop.answer(run, "no") == ["go on with phase 2a?"]
    shop.start()
    assert shop.over(run) == ("stopped", "you said no to phase 2a")
