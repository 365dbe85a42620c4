"""One arbiter says whether a turn may end; no reason stops a context twice, and nobody is trapped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.policy.plan_mode.state import Hold
from asbuilt.session.turn_end import CONTEXT, StopFacts, Wish, decide, is_left_in_plan_mode

STAGE = Wish("stage-explore", "the stage is not met")
PHASE = Wish("phase 1 is over", "save")
PLANNING = Wish("", "ask")
FULL = StopFacts(percent=61, words="save")


def test_the_order_is_the_policy() -> None:
    everything = FULL._replace(stage=STAGE, others=(PHASE, PLANNING))
    assert decide(everything) == STAGE
    assert decide(everything._replace(is_continuing=True)) == STAGE
    assert decide(everything._replace(is_continuing=True, stage=None)) is None
    assert decide(everything._replace(stage=None)) == Wish(CONTEXT, "save")
    assert decide(everything._replace(stage=None, percent=59)) == PHASE
    assert decide(FULL._replace(percent=59)) is None


def test_a_reason_that_stopped_a_context_gives_way_to_the_next() -> None:
    everything = FULL._replace(stage=STAGE, others=(PHASE, PLANNING))
    assert decide(everything._replace(stopped_for=(STAGE.reason,))) == Wish(CONTEXT, "save")
    assert decide(everything._replace(stopped_for=(STAGE.reason, CONTEXT))) == PHASE


def test_plan_mode_sends_every_turn_back_and_none_that_continues() -> None:
    planning = StopFacts(others=(PLANNING,))
    assert decide(planning) == decide(planning._replace(stopped_for=("",))) == PLANNING
    assert decide(planning._replace(is_continuing=True)) is None


def test_plan_mode_is_left_by_a_turn_that_neither_asks_nor_waits() -> None:
    def is_left(reply: str = "It is written.", *, asked: bool = False, **more: bool) -> bool:
        known = {"is_authoring": False, "is_attended": True, "is_waiting": False, **more}
        return is_left_in_plan_mode(Hold(asked=asked), reply, **known)

    assert is_left()
    assert is_left("Which limit?\n\nI take 60.\n")
    assert not any(is_left(f"I need this.\n\n{question}\n") for question in ("Which?", "哪个？", "أيها؟"))
    assert not is_left(asked=True)
    assert not is_left(is_authoring=True)
    assert not is_left(is_attended=False)
    assert not is_left(is_waiting=True)


def test_a_loop_has_its_own_end_and_is_not_stopped_by_a_full_context() -> None:
    assert decide(FULL._replace(in_loop=True, others=(PHASE, PLANNING))) is None


REASONS = (None, "a", "b", "c", "d")


def drawn(number: int) -> StopFacts:
    """Make a turn of a number: composing one of parts takes longer than judging it."""
    number, stage = divmod(number, len(REASONS))
    number, other = divmod(number, len(REASONS))
    number, percent = divmod(number, 101)
    first, second = (Wish(name, name) if name else None for name in (REASONS[stage], REASONS[other]))
    others = (second,) if second else ()
    return StopFacts(bool(number & 1), first, in_loop=bool(number & 2), percent=percent, others=others)


turns = st.integers(0, 4 * 101 * len(REASONS) ** 2 - 1).map(drawn)


@given(st.lists(turns, max_size=8))
def test_no_sequence_of_turns_is_stopped_twice_for_one_reason(sequence: list[StopFacts]) -> None:
    stopped: tuple[str, ...] = ()
    for facts in sequence:
        wish = decide(facts._replace(stopped_for=stopped))
        if wish is not None:
            assert wish.reason not in stopped
            assert not facts.is_continuing or wish == facts.stage
            stopped = (*stopped, wish.reason)


@given(turns)
def test_a_turn_that_tries_again_and_again_always_ends(facts: StopFacts) -> None:
    stopped: tuple[str, ...] = ()
    for _ in range(4):
        wish = decide(facts._replace(stopped_for=stopped))
        if wish is None:
            return
        stopped = (*stopped, wish.reason)
    raise AssertionError(stopped)
