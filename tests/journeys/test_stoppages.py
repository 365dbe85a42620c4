"""Agents that stop before they are done, money that is spent, and what people tell: each as a whole run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.events.attempts import AttemptBegun, AttemptEnded
from asbuilt.flows.requests import Asker, note
from tests.journeys.shop import one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash
IMPLEMENT = 'phase = "1"\nrole = "implement"'


def _brief(shop: Shop, run: str, name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((shop.attempt(run, name) / "brief.json").read_bytes())["brief"]
    return told


@one_store
def test_a_lost_login_waits_for_a_person_and_the_same_attempt_goes_on(shop: Shop) -> None:
    shop.turn(f"{IMPLEMENT}\nstart = 1", '{ fail = "401: invalid key", cause = "auth" }')
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    shop.kill()
    assert shop.answer(run, "yes") == ["sign in to the agent's account, then continue? 401: invalid key"]
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert [(one.number, one.role) for one in shop.events(AttemptBegun)] == [
        (1, "implement"),
        (1, "implement"),
    ]


@one_store
def test_a_run_at_its_cap_asks_before_it_costs_more_and_a_kill_forgets_nothing(
    shop: Shop,
) -> None:
    spends = "{ usage = 900, output = 100, cost_usd = 2.5 }"
    writes = '{ write = "greet.py", text = "print(\'hello\')\\n" }'
    shop.turn(IMPLEMENT, writes, spends, '{ say = "done" }')
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase", caps={"usd": 2.0})
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    assert "verifier.begun" not in shop.kinds()
    shop.kill()
    shop.start()
    assert shop.answer(run, "yes") == [
        "continue? $2.50 of $2.00 are spent. Yes allows another $2.00 (API prices)"
    ]
    assert shop.over(run) == ("landed", "")
    (ended,) = shop.events(AttemptEnded)
    assert (ended.cost_usd, ended.tokens) == (2.5, 1_000)
    budgets = [_brief(shop, run, name)["program"]["budget_usd"] for name in ("1.1", "1.1v")]
    assert budgets == [2.0, 1.5]


@one_store
def test_a_note_reaches_the_next_attempt_and_no_verifier(shop: Shop) -> None:
    run = shop.request(mode="phase", hold=True)
    note(shop.store, shop.address, "plan", text="Say it in English", asker=Asker("ann", "here", {}))
    shop.start()
    assert shop.over(run)[0] == "held"
    assert _brief(shop, run, "1.1")["notes"] == ["Say it in English"]
    assert _brief(shop, run, "1.1v")["notes"] == []
    assert [one.notes for one in shop.events(AttemptBegun)] == [1]
