"""What becomes of a verifier's word: it is looked up, and only a person accepts what is not there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import VerdictGiven, VerifierEnded
from asbuilt.journal import approvals, runs
from asbuilt.journal.ids import LOCAL
from tests.journeys.shop import REPO, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
NO = '{ verdict = "fail", why = "it greets nobody" }'
UNMET = "item 1, `greet.py` says hello: FAIL, it greets nobody"
FIXES = 'phase = "1"\nrole = "fix"', '{ append = "greet.py", text = "# again\\n" }'


def waive(shop: Shop, run: str) -> str:
    """Accept what is asked for, as a door does; return the question."""
    with shop.store.write() as session:
        (asked,) = approvals.waiting(session, LOCAL, REPO)
        approvals.answer(
            session, LOCAL, REPO, asked.number, reply="yes", actor="you", note="it greets --> <us>\nnext year"
        )
        runs.wake(session, LOCAL, REPO, run)
    assert asked.kind == "waiver"
    return asked.question


def assert_waived(shop: Shop, run: str) -> None:
    trailers = shop.git("log", "-1", "--format=%(trailers:key=Asbuilt-Waived)", "main~1")
    assert trailers == "Asbuilt-Waived: `greet.py` says hello: it greets --> <us> next year"
    plan = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    line = next(line for line in plan.splitlines() if "says hello" in line)
    assert re.fullmatch(
        r"- \[x\] `greet.py` says hello <!-- Waived [-\d]{10}: it greets -\) \(us\) next year --> \(\w+\)",
        line,
    )
    assert shop.run(run).state == "landed"


@killed_at("approval.answered", "phase.proven")
def test_an_unmet_item_lands_only_by_a_persons_waiver_and_it_shows(shop: Shop, point: str) -> None:
    shop.lands("greet.py", "plan.md")
    shop.turn(*FIXES)
    shop.turn('phase = "1"\nrole = "verify"', NO)
    run = shop.request(auto=False, hold=False)
    shop.start()
    shop.until(lambda: "approval.asked" in shop.kinds())
    assert waive(shop, run) == f"accept phase 1 without this item? Give a reason. {UNMET}"
    if point:
        shop.until(lambda: point in shop.kinds())
        shop.kill()
        shop.start()
    assert shop.over(run) == ("landed", "")
    assert_waived(shop, run)


def test_unattended_the_run_fails_and_the_waiver_counts_in_the_next_one(shop: Shop) -> None:
    shop.lands("greet.py", "plan.md")
    shop.turn(*FIXES)
    shop.turn('phase = "1"\nrole = "verify"', NO)
    first = shop.request()
    shop.start()
    assert shop.over(first) == ("failed", f"phase 1 is not proven after 2 fixes: {UNMET}")
    waive(shop, first)
    second = shop.request()
    assert shop.over(second) == ("landed", "")
    assert_waived(shop, second)


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ('{ say = "PASS: everything is done" }', "the verdict: there is none, only words"),
        (
            '{ verdict = "pass", evidence = [{ file = "greet.py", line = 7 }] }',
            "item 1, `greet.py` says hello: FAIL, it cites greet.py:7, and the file has 1 lines",
        ),
    ],
)
def test_a_verdict_that_does_not_hold_is_told_to_the_fixer(shop: Shop, said: str, failure: str) -> None:
    shop.turn(*FIXES)
    shop.turn('phase = "1"\nrole = "verify"\nattempt = 1', said)
    run = shop.request(hold=True)
    shop.start()
    assert shop.over(run)[0] == "held"
    assert str(shop.events(VerdictGiven)[0].failures[0]).startswith(failure)
    assert [one.outcome for one in shop.events(VerdictGiven)] == ["FAIL", "PASS"]


def test_a_verifier_that_is_out_of_time_has_given_no_verdict(shop: Shop) -> None:
    passes = shop.script.read_text(encoding="utf-8")
    shop.turn('phase = "1"\nrole = "verify"', "{ hang = true }")
    # A minute of work: what is left of it, but at least a minute, is the limit of an attempt.
    run = shop.request(mode="phase", hold=True, auto=False, caps={"hours": 0.017})
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    (ended,) = shop.events(VerifierEnded)
    assert (ended.ending, ended.reason) == ("timed_out", "It took longer than 60 s.")
    assert shop.events(VerdictGiven) == []
    shop.script.write_text(passes, encoding="utf-8")
    over = "its limit of 0.017 hours of work is reached"
    asked = f"continue? {over}. Yes allows another 0.017 hours of work"
    assert shop.answer(run, "yes") == [asked]
    assert shop.over(run)[0] == "held"
    assert [one.outcome for one in shop.events(VerdictGiven)] == ["PASS"]
