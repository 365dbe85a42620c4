"""A hold begins with the first payload that says plan, and ends by a person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.policy.light_json import read, write
from asbuilt.policy.plan_mode.state import (
    Event,
    Hold,
    HoldUnreadable,
    after,
    event_in,
    from_file,
    plan_file_in,
    to_file,
)

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
        pytest.param(HELD, Event("PostToolUse", mode="default", tool="ExitPlanMode"), id="approved"),
        pytest.param(HELD, Event("PostToolUse", mode="auto", tool="ExitPlanMode"), id="approved into auto"),
        pytest.param(
            HELD.changed(proposed="/p.md"), Event("SessionStart", source="clear"), id="approved and cleared"
        ),
        pytest.param(
            HELD, Event("UserPromptSubmit", mode="acceptEdits", prompt="go"), id="Shift+Tab, then a prompt"
        ),
    ],
)
def test_a_person_ends_it(hold: Hold, event: Event) -> None:
    assert after(hold, event) is None


@pytest.mark.parametrize(
    ("hold", "event"),
    [
        pytest.param(HELD, Event("SessionStart", source="clear"), id="/clear"),
        pytest.param(HELD, Event("SessionStart", source="resume"), id="resumed"),
        pytest.param(
            HELD, Event("PreToolUse", mode="acceptEdits", tool="Write"), id="a call in another mode"
        ),
        pytest.param(HELD, Event("PreToolUse", mode="bypassPermissions", tool="Bash"), id="a bypass flag"),
        pytest.param(HELD, Event("PreToolUse", tool="Write"), id="no mode"),
        pytest.param(HELD, Event("UserPromptSubmit", prompt="go"), id="a prompt without a mode"),
        pytest.param(
            HELD, Event("UserPromptSubmit", mode="default", prompt="<task-notification>"), id="a task's end"
        ),
        pytest.param(
            HELD, Event("UserPromptSubmit", mode="default", agent="a1", prompt="go"), id="a subagent"
        ),
        pytest.param(
            HELD,
            Event("PostToolUse", mode="default", tool="ExitPlanMode", agent="a1"),
            id="a subagent's exit",
        ),
        pytest.param(HELD, Event("PostToolUseFailure", mode="plan", tool="ExitPlanMode"), id="a failed exit"),
        pytest.param(
            HELD, Event("PermissionRequest", mode="plan", tool="ExitPlanMode"), id="an exit asked for"
        ),
        pytest.param(HELD, Event("SessionEnd"), id="SessionEnd"),
        pytest.param(
            HELD.changed(by="command"), Event("UserPromptSubmit", mode="default", prompt="go"), id="command"
        ),
        pytest.param(
            HELD.changed(by="session"),
            Event("PostToolUse", mode="default", tool="ExitPlanMode"),
            id="session",
        ),
    ],
)
def test_nothing_else_ends_it(hold: Hold, event: Event) -> None:
    assert after(hold, event) is not None


def _all(hold: Hold | None, *events: Event) -> Hold | None:
    for event in events:
        hold = after(hold, event)
    return hold


ASKED = Event("PreToolUse", mode="plan", tool="ExitPlanMode", plan="/p.md")
CLEARED = Event("SessionStart", source="clear")


@pytest.mark.parametrize(
    "rejected",
    [
        pytest.param((Event("PostToolBatch", mode="plan"),), id="in words"),
        pytest.param((Event("UserPromptSubmit", mode="plan", prompt="no"),), id="by Esc, then a prompt"),
        pytest.param((Event("Stop", mode="plan"),), id="and the turn is over"),
    ],
)
def test_after_a_rejection_no_clear_is_an_approval(rejected: tuple[Event, ...]) -> None:
    assert _all(HELD, ASKED, *rejected, CLEARED) is not None


def test_after_a_compaction_another_mode_is_no_word_of_a_person_until_a_payload_says_plan_again() -> None:
    compacted = _all(HELD, Event("PreCompact"), Event("SessionStart", source="compact"), Event("PostCompact"))
    prompt = Event("UserPromptSubmit", mode="default", prompt="go on")
    assert after(compacted, prompt) is not None
    assert _all(compacted, Event("PreToolUse", mode="plan", tool="Read"), prompt) is None


def test_an_approval_of_one_plan_says_nothing_about_the_next() -> None:
    approved = Event("PostToolUse", mode="default", tool="ExitPlanMode")
    again = _all(HELD, ASKED, approved, Event("UserPromptSubmit", mode="plan", prompt="another"))
    assert again is not None
    assert (again.proposed, _all(again, CLEARED) is None) == ("", False)


MODES = ("", "plan", "default", "acceptEdits", "auto", "bypassPermissions")
NO_PERSON = [
    *(
        Event(name, mode=mode, tool=tool, source=source, agent=agent)
        for name in ("PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "PreCompact", "SessionStart")
        for mode in MODES
        for tool in ("", "Write", "EnterPlanMode")
        for source in ("", "startup", "resume", "compact")
        for agent in ("", "a1")
    ),
    *(Event("UserPromptSubmit", mode=mode, prompt="<task-notification>") for mode in MODES),
]
"""What comes from an agent, its subagents and its program, without a person."""


@given(st.lists(st.sampled_from(NO_PERSON), max_size=30))
def test_no_sequence_of_events_without_a_person_ends_it(events: list[Event]) -> None:
    assert _all(HELD, *events) is not None


def test_a_question_that_is_told_after_its_answer_begins_nothing_anew() -> None:
    approved = Event("PostToolUse", mode="default", tool="ExitPlanMode")
    assert _all(HELD, ASKED, approved, Event("PermissionRequest", mode="plan", tool="ExitPlanMode")) is None


def test_a_subagent_neither_begins_a_hold_nor_changes_one() -> None:
    event = Event("PreToolUse", mode="plan", tool="Write", agent="a1")
    assert (after(None, event), after(HELD, event)) == (None, HELD)


PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "permission_mode": "plan",
    "tool_name": "ExitPlanMode",
    "tool_input": {"plan": "# Plan", "planFilePath": "/p.md"},
}


def test_an_event_is_read_from_a_payload() -> None:
    event = event_in("PreToolUse", PAYLOAD)
    assert {name: getattr(event, name) for name in event.__slots__} == {
        "name": "PreToolUse",
        "mode": "plan",
        "tool": "ExitPlanMode",
        "source": "",
        "agent": "",
        "plan": "/p.md",
        "prompt": "",
    }


def test_what_is_no_text_in_a_payload_is_empty() -> None:
    event = event_in("PreToolUse", {"permission_mode": 7, "tool_input": "x", "tool_name": None})
    assert (event.mode, event.tool, event.plan) == ("", "", "")


def _told(path: object, **more: object) -> str:
    return write({"type": "attachment", "attachment": {"type": "plan_mode", "planFilePath": path, **more}})


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], ""),
        (["{}", _told("/h/plans/a.md"), "x"], "/h/plans/a.md"),
        ([_told("/h/plans/a.md"), _told("/h/plans/b.md")], "/h/plans/b.md"),
        ([_told("/h/plans/a.md", isSubAgent=True)], ""),
        ([_told("/shop/app.py")], ""),
        ([_told("plans/a.md")], ""),
        ([_told(7)], ""),
        ([write({"type": "user", "message": {"content": _told("/h/plans/a.md")}})], ""),
        ([write({"type": "user", "attachment": {"type": "plan_mode", "planFilePath": "/a.md"}})], ""),
        (['{"type":"attachment","attachment":{"type":"plan_mode"'], ""),
    ],
)
def test_the_plan_file_is_what_claude_code_itself_has_told(lines: list[str], found: str) -> None:
    assert plan_file_in(lines) == found


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
