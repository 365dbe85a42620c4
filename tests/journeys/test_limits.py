from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, AttemptEnded
from asbuilt.events.runs import RunParked
from tests.journeys.shop import SCRIPT

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash
LIMIT_S = 6
IN_THE_MIDDLE = f"""\
[[turn]]
phase = "1"
role = "implement"
start = 1
acts = [{{ write = "greet.py", text = "print('hel" }}, {{ limit = {LIMIT_S} }}]
[[turn]]
phase = "1"
role = "implement"
start = 2
acts = [{{ append = "greet.py", text = "lo')\\n" }}, {{ say = "done" }}]
[[turn]]
role = "verify"
start = 1
acts = [{{ limit = {LIMIT_S} }}]
{SCRIPT}"""


def _began(shop: Shop) -> list[tuple[int, str]]:
    return [(event.number, event.role) for event in shop.events(AttemptBegun)]


def test_at_a_usage_limit_a_run_parks_and_goes_on_by_itself_as_the_same_attempt(shop: Shop) -> None:
    shop.script.write_text(IN_THE_MIDDLE, encoding="utf-8")
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    assert shop.over(run) == ("landed", "")
    assert _began(shop) == [(1, "implement"), (1, "implement")]
    assert [event.why for event in shop.events(RunParked)] == [
        "usage limit of the agent in phase 1",
        "usage limit of the verifier in phase 1",
    ]
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "print('hello')\n"


@pytest.mark.parametrize("parked", [1, 2])
def test_a_run_that_is_parked_outlives_its_worker(shop: Shop, parked: int) -> None:
    shop.script.write_text(IN_THE_MIDDLE, encoding="utf-8")
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start()
    shop.until(lambda: len(shop.events(RunParked)) == parked)
    shop.kill()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert _began(shop) == [(1, "implement"), (1, "implement")]
    assert len(shop.events(RunParked)) == 2
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "print('hello')\n"


def test_an_attempt_that_nobody_waited_for_is_gone_on_with(shop: Shop) -> None:
    slow = '[[turn]]\nphase = "1"\nrole = "implement"\nstart = 1\nacts = [{ hang = true }]\n'
    shop.script.write_text(slow + SCRIPT, encoding="utf-8")
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    # The second start has the same terms: its worker must write heartbeats more often.
    times = "1 45 60"
    shop.start(ASBUILT_TEST_ABANDON_S="10", ASBUILT_TEST_TIMES=times)
    shop.until(lambda: "attempt.begun" in shop.kinds())
    host = shop.attempt(run, "1.1")
    shop.until((host / "host.json").exists)
    shop.kill()
    shop.until((host / "result.json").exists)
    shop.start(ASBUILT_TEST_TIMES=times)
    assert shop.over(run) == ("landed", "")
    assert [event.ending for event in shop.events(AttemptEnded)] == ["abandoned", "done"]
    assert _began(shop) == [(1, "implement"), (1, "implement")]
