"""Whatever happens in a conversation, the machine of permission modes keeps its laws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from asbuilt.policy.plan_mode.mode import (
    MODES,
    Answered,
    Changed,
    Entered,
    ExitAsked,
    ModeSet,
    Prompted,
    State,
    Told,
    TurnEnded,
    rules_in_force,
    step,
)
from tests.policy.plan_mode.test_mode import ASKS, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.policy.plan_mode.mode import Event, Who


# Over any sequence.

WHO: tuple[Who, ...] = ("person", "agent", "subagent", "teammate", "required teammate")
NAMES, DIGESTS, EITHER = ("r1", "r2"), ("", "d1", "d2"), (True, False)
WITHIN: list[Event] = [
    *(Entered(who=who, name=name) for who in WHO for name in NAMES),
    *(ExitAsked(who="agent", name=name, digest=digest) for name in NAMES for digest in DIGESTS),
    ExitAsked(who="subagent"),
    *(Prompted(human=human) for human in EITHER),
    *(TurnEnded(asks=asks) for asks in EITHER),
    *(Changed(auto_during_plan=wanted, approver=there) for wanted in EITHER for there in EITHER),
]
"""What can happen in plan mode without anybody leaving it, or auto mode being shut."""
ANYTHING: list[Event] = [
    *WITHIN,
    *(
        Answered(name=name, approved=approved, digest=digest, feedback=feedback)
        for name in NAMES
        for approved in EITHER
        for digest in DIGESTS
        for feedback in ("", "no")
    ),
    *(ExitAsked(who=who, name="r1", content=text, digest="d1") for who in WHO for text in ("", "# Plan")),
    *(ModeSet(mode=mode) for mode in MODES),
    *(Changed(auto_shut=why) for why in ("", "offline")),
]
FEWER = settings(max_examples=settings().max_examples // 10)
EVENTS = st.lists(st.sampled_from(ANYTHING), max_size=30)
BEGINNINGS = st.builds(
    State,
    mode=st.sampled_from([mode for mode in MODES if mode != "plan"]),
    rules=st.sampled_from([(), RULES, RULES[:1]]),
    auto_during_plan=st.booleans(),
    approver=st.booleans(),
)


def _after(state: State, events: Iterable[Event]) -> State:
    for event in events:
        state, _ = step(state, event)
    return state


@FEWER
@given(BEGINNINGS, st.lists(st.sampled_from(WITHIN), max_size=30))
def test_into_plan_mode_and_out_again_is_the_identity(begun: State, events: list[Event]) -> None:
    planned = _after(step(begun, Entered(who="person"))[0], events)
    assert (planned.mode, planned.before) == ("plan", begun.mode)
    left, _ = step(planned, ExitAsked(who="person"))
    same = replace(begun, auto_during_plan=left.auto_during_plan)
    assert (left.mode, left.rules, rules_in_force(left)) == (begun.mode, begun.rules, rules_in_force(same))


@FEWER
@given(BEGINNINGS, EVENTS)
def test_every_notice_is_told_at_most_once(begun: State, events: list[Event]) -> None:
    made = told = 0
    for event in events:
        after, said = step(begun, event)
        told += sum(isinstance(one, Told) for one in said)
        if isinstance(event, Prompted):
            assert after.notices == ()
            made += after.reminded != begun.reminded
        elif after.notices != begun.notices:
            made += len(after.notices)
        begun = after
    assert told <= made


@FEWER
@given(BEGINNINGS, EVENTS)
def test_no_state_cannot_be_left_by_a_person(begun: State, events: list[Event]) -> None:
    left = _after(begun, [*events, ExitAsked(who="person")])
    assert (left.mode != "plan", left.before) == (True, None)
    assert left.awaiting is None or left.awaiting.kind == "enter"
    chosen = _after(begun, [*events, ModeSet(mode="default")])
    assert (chosen.mode, chosen.before) == ("default", None)


@FEWER
@given(BEGINNINGS, EVENTS)
def test_every_state_in_plan_mode_is_left_by_an_approval_once_a_person_has_spoken(
    begun: State, events: list[Event]
) -> None:
    state = _after(begun, [*events, Entered(who="person"), Prompted()])
    asks = replace(ASKS, name="last", digest="never seen")
    left = _after(state, [asks, Answered(name="last", approved=True, digest="never seen")])
    assert left.mode != "plan"


@FEWER
@given(BEGINNINGS, EVENTS)
def test_only_a_person_an_approval_or_a_free_teammate_leaves(begun: State, events: list[Event]) -> None:
    for event in events:
        after, _ = step(begun, event)
        if begun.mode == "plan" and after.mode != "plan":
            assert (
                isinstance(event, ModeSet)
                or (isinstance(event, ExitAsked) and event.who in ("person", "teammate"))
                or (isinstance(event, Answered) and event.approved and begun.awaiting is not None)
            )
        assert (after.mode == "plan") == (after.before is not None)
        begun = after
