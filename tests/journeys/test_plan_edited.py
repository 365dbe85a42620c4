from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.approvals import ApprovalAsked
from asbuilt.events.phases import PhaseBegun
from asbuilt.events.plans import PlanDiffers
from tests.journeys.shop import ALL, LANDED, PLAN, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
CHANGED = "the text of phase 1 was changed in the plan after it was frozen"
ASKS = "Next: `asbuilt land plan`, which asks you about the change"
MARKED = PLAN.replace("- [ ] `greet.py`", "- [x] `greet.py`")
ANOTHER_PHASE_1 = PLAN.replace("`greet.py` says hello", "`greet.py` says hello twice")
ANOTHER_PHASE_3 = PLAN.replace("`both.py` does both", "`both.py` does both at once")


def _edited_while_phase_1_is_built(shop: Shop, text: str, **options: object) -> str:
    """Start a finish, and edit the plan while its first agent works."""
    shop.turn(
        'phase = "1"\nrole = "implement"',
        '{ write = "greet.py", text = "print(\'hello\')\\n" }',
        "{ sleep = 3 }",
    )
    run = shop.request(**options)
    shop.start()
    shop.until(lambda: "attempt.begun" in shop.kinds())
    shop.write("plan.md", text)
    return run


def _told(shop: Shop, run: str, attempt: str) -> str:
    return str(json.loads((shop.attempt(run, attempt) / "brief.json").read_bytes())["brief"]["text"])


def test_a_mark_of_yours_during_the_run_changes_nothing(shop: Shop) -> None:
    shop.lands(*LANDED)
    run = _edited_while_phase_1_is_built(shop, MARKED, mode="finish")
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL[1:]
    assert shop.events(PlanDiffers) == []


def test_an_edit_of_a_later_phase_is_what_that_phase_is_built_and_judged_from(shop: Shop) -> None:
    shop.lands(*LANDED)
    run = _edited_while_phase_1_is_built(shop, ANOTHER_PHASE_3, mode="finish")
    assert shop.over(run) == ("landed", "")
    assert "does both at once" in _told(shop, run, "3.1")
    assert _told(shop, run, "3.1v") == _told(shop, run, "3.1")
    assert "does both at once" in (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert [one.phase for one in shop.events(PhaseBegun) if one.edited] == ["3"]


def test_with_auto_an_edit_of_the_phase_under_way_ends_the_run_and_nothing_lands(shop: Shop) -> None:
    run = _edited_while_phase_1_is_built(shop, ANOTHER_PHASE_1, mode="finish")
    assert shop.over(run) == (
        "failed",
        f"{CHANGED}: nothing landed; the plan's branch has the proven commits {ASKS}",
    )
    assert [event.phase for event in shop.events(PlanDiffers)] == ["1"]
    assert "twice" not in _told(shop, run, "1.1")
    assert _told(shop, run, "1.1v") == _told(shop, run, "1.1")
    assert shop.log("asbuilt/plan") == ["Greet", "start"]


@killed_at("plan.differs", "plan.compared", "run.parked")
def test_somebody_who_watches_is_asked_whether_the_changed_promise_lands(shop: Shop, point: str) -> None:
    shop.lands("greet.py", "plan.md")
    run = _edited_while_phase_1_is_built(shop, ANOTHER_PHASE_1, mode="phase", auto=False, hold=False)
    if point:
        shop.until(lambda: point in shop.kinds())
        shop.kill()
        shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    assert shop.answer(run, "yes") == [f"{CHANGED}; continue with what was built?"]
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Greet", "start"]
    assert "says hello twice (" in (shop.checkout / "plan.md").read_text(encoding="utf-8")


def test_direct_lands_no_phase_whose_promise_was_changed(shop: Shop) -> None:
    run = _edited_while_phase_1_is_built(shop, ANOTHER_PHASE_1, mode="finish", landing="direct")
    assert shop.over(run) == (
        "failed",
        f"{CHANGED}: nothing landed; the plan's branch has the proven commits {ASKS}",
    )
    assert (shop.log(), shop.log("asbuilt/plan")) == (["start"], ["Greet", "start"])


@killed_at("plan.differs", "plan.compared", "run.parked")
def test_a_promise_that_changed_since_it_was_held_is_asked_about_when_it_lands(
    shop: Shop, point: str
) -> None:
    held = shop.request(mode="phase", hold=True)
    shop.start()
    assert shop.over(held)[0] == "held"
    shop.kill()
    shop.write("plan.md", ANOTHER_PHASE_1)
    shop.lands("greet.py", "plan.md")
    run = shop.request(kind="land")
    seen = shop.kinds().count(point)
    shop.start()
    if point:
        shop.until(lambda: shop.kinds().count(point) > seen)
        shop.kill()
        shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    assert shop.answer(run, "yes") == [f"{CHANGED}; continue with what was built?"]
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Greet", "start"]


def test_a_changed_promise_that_somebody_said_yes_to_is_asked_about_once(shop: Shop) -> None:
    held = _edited_while_phase_1_is_built(shop, ANOTHER_PHASE_1, mode="phase", auto=False)
    shop.until(lambda: shop.run(held).state == "waiting")
    shop.answer(held, "yes")
    assert shop.over(held)[0] == "held"
    shop.lands("greet.py", "plan.md")
    assert shop.over(shop.request(kind="land")) == ("landed", "")
    assert len(shop.events(ApprovalAsked)) == 1
