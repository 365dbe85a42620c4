"""A phase that is delegated to another plan: that plan's run lands, and the phase is proven on the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.phases import PhaseReturned
from asbuilt.flows.requests import Asker, stop
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL
from tests.journeys.shop import REPO, SCRIPT, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
PLAN = """\
# Both

## Phase 1 — Greetings
### Execution: delegate plans/greet.md
### Work Items
- [ ] everybody is greeted
### Verification
- `grep -q hello greet.py`

## Phase 2 — Part
### Work Items
- [ ] `part.py` says goodbye
### Verification
- `grep -q goodbye part.py && grep -q hello greet.py`
"""
SUB = """\
# Greet

## Phase 1 — Greet
### Work Items
- [ ] `greet.py` says hello
### Verification
- `test -s greet.py`
"""
PART = """\
[[turn]]
phase = "2"
acts = [{ write = "part.py", text = "goodbye" }, { say = "done" }]
role = "implement"
"""


def _plans(shop: Shop, script: str = SCRIPT) -> None:
    (shop.checkout / "plans").mkdir()
    shop.commit("plans/greet.md", SUB, "sub")
    shop.commit("plan.md", PLAN, "plan")
    shop.script.write_text(PART + script, encoding="utf-8")
    shop.lands("greet.py", "part.py", "plan.md", "plans/greet.md")


@killed_at("phase.delegated", "phase.returned", "phase.proven")
def test_a_phase_is_delegated_to_another_plan_and_proven_on_the_branch(shop: Shop, point: str) -> None:
    _plans(shop)
    run = shop.request(mode="finish", landing="direct", hold=False)
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert shop.log() == [
        "Mark plan.md", "Part", "Mark plan.md", "Greetings", "Mark plans/greet.md", "Greet", "plan", "sub",
        "start",
    ]  # fmt: skip
    assert [one.state for one in shop.events(PhaseReturned)] == ["landed"]


def test_a_delegated_phase_whose_plan_fails_fails_the_run(shop: Shop) -> None:
    _plans(shop, SCRIPT.replace('verdict = "pass"', 'verdict = "fail"'))
    run = shop.request(mode="phase", hold=False)
    shop.start()
    state, reason = shop.over(run)
    assert (state, reason.partition(":")[0]) == ("failed", "phase 1, delegated to plans/greet.md")
    assert shop.log() == ["plan", "sub", "start"]


def test_a_result_that_does_not_hold_on_the_branch_is_not_proven(shop: Shop) -> None:
    _plans(shop, SCRIPT.replace("hello", "nothing"))
    run = shop.request(mode="phase", hold=False)
    shop.start()
    state, reason = shop.over(run)
    assert (state, "unproven. On main at" in reason) == ("failed", True)


def test_a_stop_of_the_run_that_delegated_a_phase_stops_the_run_of_the_other_plan_too(shop: Shop) -> None:
    _plans(shop)
    shop.turn('phase = "1"\nrole = "implement"', "{ hang = true }")
    run = shop.request(mode="finish", landing="direct", hold=False)
    shop.start()
    shop.until(lambda: "phase.delegated" in shop.kinds())
    with shop.store.read() as session:
        (other,) = (one.run for one in runs.open_of(session, LOCAL, REPO) if one.options.parent)
    shop.until((shop.home / "runs" / other / "attempts").exists)
    assert stop(shop.store, shop.run(run), reason="not now", asker=Asker("you", "here", {}))
    shop.until(lambda: shop.run(other).is_over)
    assert (shop.run(other).state, shop.over(run)[0]) == ("stopped", "stopped")
