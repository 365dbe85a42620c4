"""One breaker per agent account: what one run or lane learns of its account holds for all that use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, AttemptEnded
from asbuilt.events.runs import RunParked, WaitReason
from asbuilt.flows import requests
from asbuilt.flows.requests import Asker
from asbuilt.journal import approvals, runs
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queues import account_breakers
from tests.journeys.shop import LONG, REPO
from tests.journeys.test_landing_queue import NAMES, asked, kinds, prepared
from tests.journeys.test_lanes import DONE, GATE, PART, SHOUT, pair, proven, release

if TYPE_CHECKING:
    from asbuilt.events.event import Entry
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash
LIMIT_S = 12
PARKED = "asbuilt: {} in shop is parked"


def limited(shop: Shop, name: str, act: str) -> str:
    """Ask for a run whose first agent meets a cause at once."""
    run = asked(shop, name)
    script = shop.script.with_name(f"{name}.toml")
    first = f'[[turn]]\nphase = "1"\nrole = "implement"\nstart = 1\nacts = [{act}]\n'
    script.write_text(first + script.read_text(encoding="utf-8"), encoding="utf-8")
    return run


def start(shop: Shop) -> None:
    shop.start(ASBUILT_TEST_SLOTS="4", ASBUILT_TEST_CALLS=str(shop.home / "calls"))


def calls(shop: Shop) -> list[str]:
    """Tell the titles of all notices, in order."""
    return (shop.home / "calls").read_text(encoding="utf-8").splitlines()


def told(shop: Shop) -> list[tuple[str, Entry]]:
    """Give the events of all plans by name, in the order of time."""
    with shop.store.read() as session:
        every = [
            (name, one) for name in NAMES for one in history(session, Address(LOCAL, REPO, f"{name}.md"))
        ]
    return sorted(every, key=lambda one: one[1].at)


def held(shop: Shop) -> int:
    with shop.store.read() as session:
        return len(account_breakers.of(session, LOCAL))


def landed(shop: Shop, *every: str) -> None:
    shop.until(lambda: all(shop.run(run).is_over for run in every))
    assert [shop.run(run).state for run in every] == ["landed"] * len(every)


@pytest.mark.parametrize("kill", ["", "parked", *(["begun"] if LONG else [])])
def test_a_limit_of_one_run_parks_the_others_and_then_one_of_them_tries(shop: Shop, kill: str) -> None:
    prepared(shop)
    shop.lands(*(f"{name}.{end}" for name in NAMES for end in ("txt", "md")))
    first = limited(shop, "anna", f"{{ limit = {LIMIT_S} }}")
    start(shop)
    shop.until(lambda: kinds(shop, "anna", RunParked))
    others = [asked(shop, name) for name in NAMES[1:]]
    shop.until(lambda: all(kinds(shop, name, RunParked) for name in NAMES))
    (until,) = {entry.event.until for _, entry in told(shop) if isinstance(entry.event, RunParked)}
    assert [kinds(shop, name, AttemptBegun) for name in NAMES[1:]] == [[], []]
    if kill == "begun":
        shop.until(lambda: sum(len(kinds(shop, name, AttemptBegun)) for name in NAMES) > 1)
    if kill:
        shop.kill()
        start(shop)
    landed(shop, first, *others)
    after = [
        (name, entry)
        for name, entry in told(shop)
        if entry.at >= (until or "") and isinstance(entry.event, AttemptBegun | AttemptEnded)
    ]
    # The second agent starts only when the first has finished.
    assert [type(entry.event) for _, entry in after[:2]] == [AttemptBegun, AttemptEnded]
    assert after[0][0] == after[1][0]
    assert held(shop) == 0
    assert [one for one in calls(shop) if "parked" in one] == [PARKED.format("anna.1")]


def test_a_login_that_is_over_is_asked_about_once_and_the_answer_wakes_all(shop: Shop) -> None:
    prepared(shop)
    shop.lands(*(f"{name}.{end}" for name in NAMES[:2] for end in ("txt", "md")))
    first = limited(shop, "anna", '{ fail = "401: invalid key", cause = "auth" }')
    start(shop)
    shop.until(lambda: shop.run(first).state == "waiting")
    second = asked(shop, "bert")
    shop.until(lambda: kinds(shop, "bert", RunParked))
    (parked,) = kinds(shop, "bert", RunParked)
    assert isinstance(parked, RunParked)
    assert (parked.reason, parked.until) == (WaitReason.LIMIT, None)
    assert parked.why == "login of the agent in phase 1"
    shop.kill()
    start(shop)
    assert len(shop.answer(first, "yes")) == 1
    landed(shop, first, second)
    assert held(shop) == 0
    with shop.store.read() as session:
        assert approvals.waiting(session, LOCAL, REPO) == []


def test_a_run_that_is_stopped_before_its_question_is_answered_lets_another_try(shop: Shop) -> None:
    prepared(shop)
    shop.lands("bert.txt", "bert.md")
    first = limited(shop, "anna", '{ fail = "401: invalid key", cause = "auth" }')
    start(shop)
    shop.until(lambda: shop.run(first).state == "waiting")
    second = asked(shop, "bert")
    shop.until(lambda: kinds(shop, "bert", RunParked))
    assert requests.stop(shop.store, shop.run(first), reason="enough", asker=Asker("you", "here", {}))
    landed(shop, second)
    assert shop.run(first).state == "stopped"
    assert held(shop) == 0


def test_a_limit_of_one_lane_parks_the_other_before_its_next_agent(shop: Shop) -> None:
    run = pair(shop, part=(PART, DONE), shout=(GATE, SHOUT, DONE))
    shop.turn('phase = "2a"\nrole = "implement"\nstart = 1', f"{{ limit = {2 * LIMIT_S} }}")
    start(shop)
    shop.until(lambda: any(one.reason is WaitReason.LIMIT for one in shop.events(RunParked)))
    release(shop, "2b")
    shop.until(lambda: {one.phase for one in shop.events(RunParked)} >= {"2a", "2b"})
    shop.until(lambda: shop.run(run).state == "waiting")
    assert proven(shop) == []
    assert shop.over(run) == ("landed", "")
    assert sorted(proven(shop)) == ["2a", "2b"]
    waits = [one.why for one in shop.events(RunParked) if one.reason is WaitReason.LIMIT]
    assert waits[:2] == ["usage limit of the agent in phase 2a", "usage limit of the verifier in phase 2b"]
    assert [one for one in calls(shop) if "parked" in one] == [PARKED.format("plan.1")]


def test_a_person_who_asks_a_run_to_go_on_lets_it_try_before_the_time(shop: Shop) -> None:
    prepared(shop)
    shop.lands(*(f"{name}.{end}" for name in NAMES[:2] for end in ("txt", "md")))
    first = limited(shop, "anna", "{ limit = 3600 }")
    start(shop)
    shop.until(lambda: kinds(shop, "anna", RunParked))
    second = asked(shop, "bert")
    shop.until(lambda: kinds(shop, "bert", RunParked))
    with shop.store.read() as session:
        found = runs.find(session, LOCAL, REPO, second)
    assert found is not None
    assert requests.resume(shop.store, found, asker=Asker("you", "here", {}))
    landed(shop, first, second)
    begun = [name for name, entry in told(shop) if isinstance(entry.event, AttemptBegun)]
    assert begun == ["anna", "bert", "anna"]
