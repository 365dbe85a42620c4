"""What becomes of a run whose agent stopped, or whose money is spent: each cause has its course."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from msgspec.structs import replace

from asbuilt.events.attempts import TogetherJudged
from asbuilt.events.event import Cause
from asbuilt.events.options import CapChoices, RunOptions
from asbuilt.events.options_json import read_options
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.limits import OVERLOAD_LIMIT
from asbuilt.lifecycle.run.agent_stops import Breaker, course_of, ending_of
from asbuilt.lifecycle.run.money import Caps, Spent, caps_in, left_s, total, used_in
from asbuilt.lifecycle.run.moves import Ask, Attempt, End, Keep, Move, Verify, Wait
from asbuilt.lifecycle.run.retry_times import backs_off_until
from tests.lifecycle.plan_run.test_next_move import LATER, NOW, RUN
from tests.lifecycle.test_pausing import BEGUN, KEPT
from tests.support.happened import happened

Told = tuple[str, dict[str, Any]]
OVER = "continue? {}. Yes allows another $2.00 (API prices)"


def stopped(cause: Cause, *, start: int = 1) -> Told:
    return "attempt.ended", {
        "run": RUN, "phase": "1", "number": 1, "ending": ending_of(cause), "cause": cause,
        "reason": "It says why.", "starts": start,
    }  # fmt: skip


def begun(number: int = 1) -> Told:
    return "attempt.begun", {"run": RUN, "phase": "1", "number": number, "role": "implement"}


def answered(move: Move, answer: str) -> Told:
    assert isinstance(move, Ask)
    return "approval.answered", {"run": RUN, "key": move.key, "number": 1, "answer": answer}


def breaker(cause: Cause, until: str | None = LATER, holder: str = f"{RUN}/", **other: Any) -> Breaker:  # noqa: ANN401
    return Breaker("mine", cause, until, holder, **other)


def after(*more: Told, now: str = NOW, caps: CapChoices | None = None, held: Breaker | None = None) -> Move:
    facts = fold(RUN, RunOptions(auto=True, caps=caps), happened([*BEGUN, *more]))
    facts.breakers = {} if held is None else {"": held}
    return next_move(facts, now)


def verifier(cause: Cause) -> list[Told]:
    about = {"run": RUN, "phase": "1", "number": 1}
    return [
        ("attempt.ended", {**about, "ending": "done"}),
        KEPT,
        ("checks.done", {**about, "outcome": "PASS"}),
        (
            "verifier.ended",
            {**about, "ending": ending_of(cause), "cause": cause, "reason": "It says why.", "starts": 1},
        ),
    ]


def test_every_cause_has_its_course_and_its_ending() -> None:
    assert {cause: (course_of(cause), ending_of(cause)) for cause in get_args(Cause)} == {
        "usage_limit": ("wait", "limited"),
        "overload": ("back off", "limited"),
        "auth": ("ask, resume", "limited"),
        "budget": ("restart", "failed"),
        "max_turns": ("restart", "failed"),
        "crash": ("restart", "crashed"),
        "refusal": ("ask, restart", "failed"),
        "unheld": ("stop", "failed"),
    }


def test_an_overload_waits_its_time_and_goes_on_with_the_same_attempt() -> None:
    turned_away, held = stopped("overload"), breaker("overload")
    waits = Wait(WaitReason.OVERLOAD, "overload of the agent in phase 1", LATER, account="mine")
    assert after(turned_away, held=held) == waits
    assert after(turned_away, held=held, now=LATER) == Attempt("1", 1, "implement")
    again = [begun(), turned_away] * OVERLOAD_LIMIT
    assert after(turned_away, *again) == End(
        "failed", f"phase 1: overloaded {OVERLOAD_LIMIT + 1} times in a row; It says why."
    )
    recovered = [*again, begun(), stopped("usage_limit"), begun(), turned_away]
    assert after(turned_away, *recovered, held=held) == waits


def test_what_one_chain_met_holds_for_all_that_use_the_account_and_then_one_of_them_tries() -> None:
    done = [("attempt.ended", {"run": RUN, "phase": "1", "number": 1, "ending": "stalled"}), KEPT]
    met = breaker("usage_limit", holder="other/2a")
    waits = Wait(WaitReason.LIMIT, "usage limit of the agent in phase 1", LATER, account="mine")
    assert after(*done, held=met) == waits
    # An agent that works already is waited for.
    assert after(held=met) == Attempt("1", 1, "implement")
    assert after(*done, held=met, now=LATER) == Attempt("1", 2, "implement")
    soon = "2026-11-15T05:01:00.000Z"
    probed = met._replace(probe="other/2a", probe_until=soon)
    assert after(*done, held=probed, now=LATER) == replace(waits, until=soon)
    assert after(*done, held=probed, now=soon) == Attempt("1", 2, "implement")
    assert after(*done, held=probed._replace(probe=f"{RUN}/"), now=LATER) == Attempt("1", 2, "implement")


def test_of_two_causes_that_hold_at_once_the_longer_one_counts() -> None:
    limit, sooner = breaker("usage_limit"), "2026-11-15T04:00:00.000Z"
    assert limit.met_again("overload", sooner, "b/", NOW) == limit
    login = limit.met_again("auth", None, "b/", NOW)
    assert login == breaker("auth", None, "b/")
    assert login.met_again("usage_limit", LATER, "c/", NOW) == login
    probed = limit._replace(probe="b/", probe_until=LATER, told="a/")
    longer = backs_off_until(1, LATER)
    assert probed.met_again("overload", LATER, "b/", LATER) == breaker(
        "overload", longer, "b/", tries=2, told="a/"
    )


def test_overloads_are_waited_for_longer_each_time() -> None:
    waits = [backs_off_until(overloads, NOW)[11:19] for overloads in range(7)]
    assert waits == ["02:01:00", "02:05:00", "02:15:00", "02:30:00", "03:00:00", "03:00:00", "03:00:00"]


def test_who_is_not_signed_in_is_asked_about_and_goes_on_where_it_was() -> None:
    out = stopped("auth")
    held = breaker("auth", None)
    asks = after(out, held=held)
    question = "sign in to the agent's account, then continue? It says why."
    assert asks == Ask(f"{RUN}/auth/1/1/1", "agent", question, "1")
    login = Wait(WaitReason.LIMIT, "login of the agent in phase 1", None, account="mine")
    assert after(out, held=held._replace(holder="other/")) == login
    assert after(out, answered(asks, "yes")) == Attempt("1", 1, "implement")
    refused = "you said no: the agent in phase 1 has stopped; It says why."
    assert after(out, answered(asks, "no")) == End("stopped", refused)
    again = after(out, answered(asks, "yes"), begun(), stopped("auth", start=2), held=held)
    assert again == Ask(f"{RUN}/auth/1/1/2", "agent", question, "1")


def test_what_would_end_the_same_again_is_kept_asked_about_and_begun_anew() -> None:
    assert after(stopped("refusal")) == Keep("1", 1)
    asks = after(stopped("refusal"), KEPT)
    question = "try phase 1 again? The agent refused: It says why."
    assert asks == Ask(f"{RUN}/refusal/1/1/1", "agent", question, "1")
    assert after(stopped("refusal"), KEPT, answered(asks, "yes")) == Attempt("1", 2, "implement")


def test_a_budget_that_was_all_that_the_run_had_left_is_asked_about_once() -> None:
    spent = [("attempt.ended", {**stopped("budget")[1], "attempt": "1.1", "cost_usd": 2.1}), KEPT]
    asks = after(*spent, caps=CapChoices(usd=2.0))
    assert asks == Ask(f"{RUN}/cap/1", "cap", OVER.format("$2.10 of $2.00 are spent"))
    assert after(*spent, answered(asks, "yes"), caps=CapChoices(usd=2.0)) == Attempt("1", 2, "implement")


@pytest.mark.parametrize("cause", ["budget", "max_turns", "crash"])
def test_what_may_go_well_another_time_is_begun_anew_by_itself(cause: Cause) -> None:
    assert after(stopped(cause), KEPT) == Attempt("1", 2, "implement")


def test_where_what_holds_an_agent_did_not_hold_the_run_stops_at_once() -> None:
    assert after(stopped("unheld"), KEPT) == End("failed", "phase 1: It says why.")
    assert after(*verifier("unheld")) == End("failed", "phase 1: It says why.")


def test_a_verifier_that_stopped_is_waited_for_or_asked_about() -> None:
    waits = after(*verifier("overload"), held=breaker("overload"))
    assert waits == Wait(WaitReason.OVERLOAD, "overload of the verifier in phase 1", LATER, account="mine")
    asks = after(*verifier("auth"), held=breaker("auth", None))
    question = "sign in to the verifier's account, then continue? It says why."
    assert asks == Ask(f"{RUN}/auth/1/1v0/1", "agent", question, "1")
    assert after(*verifier("auth"), answered(asks, "yes")) == Verify("1", 1)
    assert after(*verifier("crash")) == Verify("1", 1)


def spending(usd: float | None, tokens: int | None = None, *, ending: str = "stalled") -> list[Told]:
    about = {"run": RUN, "phase": "1", "number": 1}
    used = {"attempt": "1.1", "cost_usd": usd, "tokens": tokens}
    return [("attempt.ended", {**about, "ending": ending, "starts": 1, **used}), KEPT]


def test_a_cap_asks_before_another_agent_starts_and_a_yes_gives_as_much_again() -> None:
    capped = CapChoices(usd=2.0)
    assert after(*spending(1.99), caps=capped) == Attempt("1", 2, "implement")
    asks = after(*spending(2.0), caps=capped)
    assert asks == Ask(f"{RUN}/cap/1", "cap", OVER.format("$2.00 of $2.00 are spent"))
    assert after(*spending(2.0), answered(asks, "yes"), caps=capped) == Attempt("1", 2, "implement")
    assert after(*spending(4.5), answered(asks, "yes"), caps=capped) == Ask(
        f"{RUN}/cap/2", "cap", OVER.format("$4.50 of $4.00 are spent")
    )
    assert after(*spending(2.0), answered(asks, "no"), caps=capped) == End(
        "stopped", "you said no: $2.00 of $2.00 are spent"
    )


def test_an_agent_under_way_is_not_cut_off_by_a_cap_and_what_it_made_is_still_checked() -> None:
    assert after(now=LATER, caps=CapChoices(hours=1)) == Attempt("1", 1, "implement")
    done = after(*spending(9.0, ending="done"), caps=CapChoices(usd=2.0))
    assert type(done).__name__ == "Check"


def test_tokens_and_hours_are_caps_too() -> None:
    asks = after(*spending(None, 5_000), caps=CapChoices(tokens=5_000))
    assert asks == Ask(
        f"{RUN}/cap/1", "cap", "continue? 5,000 of 5,000 tokens are used. Yes allows another 5,000 tokens"
    )
    started = [(kind, {**data, "at": NOW} if kind == "run.started" else data) for kind, data in BEGUN]
    facts = fold(
        RUN, read_options({"auto": True, "caps": {"hours": 3}}), happened([*started, *spending(None)])
    )
    over = Ask(
        f"{RUN}/cap/1",
        "cap",
        "continue? its limit of 3 hours of work is reached. Yes allows another 3 hours of work",
    )
    assert next_move(facts, LATER) == over
    assert next_move(facts, NOW) == Attempt("1", 2, "implement")
    worked_s = facts.time.worked_s(LATER)
    assert [left_s(Caps(hours=hours), worked_s) for hours in (None, 3, 3.5)] == [None, 0, 1800]


def used(usd: float | None, tokens: int | None) -> Spent:
    found = used_in(TogetherJudged(outcome="PASS", attempt="1v", cost_usd=usd, tokens=tokens))
    assert found is not None
    return found[1]


def test_what_an_agent_did_not_tell_is_unknown_and_never_nothing() -> None:
    told, untold, half = (used(1.25, 10), used(None, None), used(0.5, None))
    assert (told.words, told.brief) == ("$1.25", "$1.25")
    assert (untold.words, untold.brief, untold.plain["usd"]) == ("an unknown cost", "unknown", None)
    both = total([told, untold, half])
    assert both == Spent(1.75, 10, usd_unreported=1, tokens_unreported=2)
    assert (both.words, both.brief, both.plain["usd"]) == ("at least $1.75", "$1.75+", 1.75)
    nothing = used(0.0, 0)
    assert (nothing.words, nothing.brief, nothing.plain["usd"], total([])) == ("$0.00", "", 0.0, Spent())
    assert caps_in(RunOptions()) == Caps()
    assert Caps(15, 2_000_000, 8).words == "$15.00 (API prices), 2,000,000 tokens, 8 hours of work"
