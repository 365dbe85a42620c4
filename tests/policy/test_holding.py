"""A hold begins with the first payload that says plan, and ends by a person."""

from __future__ import annotations

import pytest

from asbuilt.policy.holding import Event, Hold, HoldUnreadable, after, from_file, to_file
from asbuilt.policy.notation import read, write

HELD = Hold(since=5.0, root="/shop")


def test_a_payload_that_says_plan_begins_a_hold() -> None:
    hold = after(None, Event("PreToolUse", mode="plan", tool="Read"), now=5.0, root="/shop")
    assert hold is not None
    assert hold.fields() == HELD.fields()


def test_a_payload_that_says_another_mode_begins_none() -> None:
    assert after(None, Event("PreToolUse", mode="acceptEdits", tool="Write")) is None


@pytest.mark.parametrize(
    ("hold", "event"),
    [
        (HELD, Event("PostToolUse", mode="default", tool="ExitPlanMode")),
        (HELD.changed(proposed="/p.md"), Event("SessionStart", source="clear")),
        (HELD, Event("UserPromptSubmit", mode="acceptEdits")),
    ],
)
def test_a_person_ends_it(hold: Hold, event: Event) -> None:
    assert after(hold, event) is None


@pytest.mark.parametrize(
    ("hold", "event"),
    [
        (HELD, Event("SessionStart", source="clear")),
        (HELD, Event("PreToolUse", mode="acceptEdits", tool="Write")),
        (HELD.changed(compacted=True), Event("UserPromptSubmit", mode="default")),
        (HELD, Event("UserPromptSubmit")),
        (HELD, Event("UserPromptSubmit", mode="default", agent="a1")),
        (HELD.changed(by="command"), Event("UserPromptSubmit", mode="default")),
    ],
)
def test_nothing_else_ends_it(hold: Hold, event: Event) -> None:
    assert after(hold, event) is not None


def test_a_hold_is_read_back_from_its_file_as_it_was() -> None:
    hold = HELD.changed(plans=("/shop/plans/é.md",), proposed="/shop/plans/é.md", compacted=True)
    assert from_file(read(write(to_file(hold)))).fields() == hold.fields()


@pytest.mark.parametrize("text", ["null", "{}", '{"v":2}', "[]", '"hold"'])
def test_a_hold_that_cannot_be_read_is_told_apart_from_none(text: str) -> None:
    with pytest.raises(HoldUnreadable):
        from_file(read(text))


@pytest.mark.parametrize("text", ["", " ", "{", "[1,]", "{} {}", "NaN", "[" * 100_000, "'a'", "\x00"])
def test_what_is_not_one_json_value_is_an_error_of_one_kind(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text)
