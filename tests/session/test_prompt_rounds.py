"""A loop has a limit from the start, a round needs a person's /clear, and the plan is asked about claims."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.session.prompt_rounds import COMPLETE, LASTS_S, MOST, Loop, Round, after, again, begin, from_file

NOW = 1_000.0
LOOP = begin("do it\n\nall of it", most=5, plan="/p.md", phase="1", now=NOW)


def test_a_limit_is_always_set() -> None:
    assert [begin("x", most=most, now=0).most for most in (-1, 0, 1, 7, 10**9)] == [1, 1, 1, 7, MOST]


def test_a_round_goes_on_until_its_context_is_full() -> None:
    quiet = Round(percent=59, phase="1", is_plan_over=False)
    assert after(LOOP, NOW, quiet) == LOOP
    left = after(LOOP, NOW + 1, quiet._replace(percent=60))
    assert left == LOOP._replace(at=NOW + 1, is_left=True, why="context 60% used")


def test_a_round_ends_with_its_phase_however_empty_the_context() -> None:
    left = after(LOOP, NOW, Round(percent=3, phase="2", is_plan_over=False))
    assert left == LOOP._replace(is_left=True, why="phase 1 is over")


def test_a_claim_is_looked_up_in_the_plan() -> None:
    said = Round(reply=f"{COMPLETE}: All tasks finished successfully.", phase="1")
    assert after(LOOP, NOW, said._replace(is_plan_over=True)) is None
    assert after(LOOP, NOW, said) is None
    goes_on = after(LOOP, NOW, said._replace(is_plan_over=False))
    assert goes_on == LOOP._replace(why="the agent said PLAN COMPLETE, and the plan has items open")


def test_a_blocker_ends_a_loop() -> None:
    assert after(LOOP, NOW, Round(reply="I tried.\n**BLOCKER:** no key", is_plan_over=False)) is None
    assert after(LOOP, NOW, Round(reply="no BLOCKER: in sight", is_plan_over=False)) == LOOP


def test_a_fresh_context_begins_the_next_round_with_the_prompt_as_it_was_typed() -> None:
    left = LOOP._replace(iteration=2, is_left=True, why="context 61% used")
    assert again(left, NOW + 5, "2") == left._replace(iteration=3, at=NOW + 5, phase="2", is_left=False)


def test_no_round_comes_after_the_last_one_or_after_an_hour() -> None:
    assert again(LOOP._replace(iteration=5), NOW, "1") is None
    assert again(LOOP, NOW + LASTS_S + 1, "1") is None


def test_what_a_file_keeps_is_a_loop_with_a_limit_or_none() -> None:
    kept = LOOP._asdict()
    assert from_file(kept) == LOOP
    wrongs: list[dict[str, object]] = [
        {"most": 0},
        {"most": 10**6},
        {"iteration": 6},
        {"most": "5"},
        {"is_left": 1},
        {"prompt": None},
    ]
    for wrong in wrongs:
        assert from_file({**kept, **wrong}) is None
    others: tuple[object, ...] = (None, [], {}, {"prompt": "x"})
    assert [from_file(one) for one in others] == [None] * 4


def drawn(number: int) -> Round | None:
    """Make a turn of a number; None is a /clear."""
    number, said = divmod(number, 5)
    number, phase = divmod(number, 3)
    number, is_over = divmod(number, 3)
    if said == 4:
        return None
    words = ("", COMPLETE, "BLOCKER: x", "hm")[said]
    return Round(number % 101, 60, words, ("", "1", "2")[phase], (None, False, True)[is_over])


@given(st.integers(-5, 200), st.lists(st.integers(0, 5 * 3 * 3 * 101 - 1).map(drawn), max_size=120))
def test_no_sequence_has_more_rounds_than_its_limit(most: int, events: list[Round | None]) -> None:
    loop: Loop | None = begin("x", most=most, phase="1", now=NOW)
    begun = 1
    for event in events:
        if loop is None:
            break
        before = loop
        loop = again(loop, NOW, "1") if event is None else after(loop, NOW, event)
        begun += event is None and loop is not None
        assert loop is None or before.iteration <= loop.iteration <= loop.most == before.most
    assert begun <= max(1, min(most, MOST))
