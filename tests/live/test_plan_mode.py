"""What the gate relies on in Claude Code's plan mode, seen on the pinned version: docs/adr/0016.

A version that fails one of these has other exit rules than `policy.holding` has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.policy.plan_mode.state import Hold, after, event_in, plan_file_in
from tests.live.conversation import SCRIPT, Allow, Deny, Place, Talk
from tests.live.terminal import Terminal
from tests.model import Call, Say, Usage, answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.model import Model
    from tests.model.steps import Step

pytestmark = pytest.mark.live

PLANNING = ("--permission-mode", "plan")
PLANS = answer(
    Call("Write", {"file_path": r"{{re:create your plan at (\S+?) using}}", "content": "# Plan\n1. do\n"})
)
EXITS = answer(Call("ExitPlanMode", {}))
ENTERS = answer(Call("EnterPlanMode", {}))
DONE = answer(Say("DONE"))
LONG = "many words " * 4000
_UNORDERED = ("PermissionRequest", "Notification", "SessionEnd", "Stop", "SubagentStop")
"""Events that come beside others, at any time, or that say nothing more."""


@pytest.fixture
def place(room: Path, model: Model) -> Place:
    made = Place(room, model)
    made.settle({"hooks": made.recording(), "useAutoModeDuringPlan": False})
    return made


def _writes(place: Place, name: str = "made.txt") -> Step:
    return answer(Call("Write", {"file_path": str(place.shop / name), "content": "made\n"}))


def _allow(tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    del tool, given
    return Allow


def _reject_plans(tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    del given
    return Deny if tool == "ExitPlanMode" else Allow


def _seen(place: Place) -> list[str]:
    """Say each event in one line: its name, what it is about, its mode."""
    return [
        " ".join(
            [
                one["hook_event_name"],
                one.get("tool_name") or one.get("source") or one.get("trigger") or "",
                one.get("permission_mode", "-"),
                *(["subagent"] if "agent_id" in one else []),
            ]
        ).replace("  ", " ")
        for one in place.payloads()
        if one["hook_event_name"] not in _UNORDERED
    ]


def _held(place: Place) -> Hold | None:
    """Follow what was recorded with the rule of the product."""
    hold = None
    for one in place.payloads():
        hold = after(hold, event_in(one["hook_event_name"], one))
    return hold


def test_a_rejected_exit_leaves_every_payload_at_plan(place: Place) -> None:
    place.model.play(SCRIPT, PLANS, EXITS, DONE, _writes(place), DONE)
    with Talk(place, *PLANNING, answer=_reject_plans) as talk:
        talk.say("plan it")
        talk.say("go on")
    assert _seen(place) == [
        "SessionStart startup -",
        "UserPromptSubmit plan",
        "PreToolUse Write plan",
        "PostToolUse Write plan",
        "PostToolBatch plan",
        "PreToolUse ExitPlanMode plan",
        "PostToolBatch plan",
        "UserPromptSubmit plan",
        "PreToolUse Write plan",
        "PostToolUse Write plan",
        "PostToolBatch plan",
    ]
    # The host said yes to it, and so a file was made in plan mode: the mode alone holds nothing.
    assert (place.shop / "made.txt").exists()
    assert _held(place) is not None


def test_an_approved_exit_is_told_by_post_tool_use_with_the_mode_that_is_next(place: Place) -> None:
    place.model.play(SCRIPT, PLANS, EXITS, DONE)
    with Talk(place, *PLANNING, answer=_allow) as talk:
        talk.say("plan it")
    assert _seen(place)[-3:] == [
        "PreToolUse ExitPlanMode plan",
        "PostToolUse ExitPlanMode default",
        "PostToolBatch default",
    ]
    assert _held(place) is None


def test_an_agent_enters_by_a_tool_and_the_call_itself_still_says_the_old_mode(place: Place) -> None:
    place.model.play(SCRIPT, ENTERS, DONE)
    with Talk(place, "--permission-mode", "acceptEdits", answer=_allow) as talk:
        talk.say("plan it")
    assert _seen(place)[1:] == [
        "UserPromptSubmit acceptEdits",
        "PreToolUse EnterPlanMode acceptEdits",
        "PostToolUse EnterPlanMode plan",
        "PostToolBatch plan",
    ]


def test_clear_and_compaction_keep_the_mode(place: Place) -> None:
    full = Usage(cached=190_000)
    place.model.play(SCRIPT, DONE, DONE, answer(Say(LONG), usage=full), answer(Say("a summary")), DONE)
    with Talk(
        place, *PLANNING, answer=_allow, environment={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
    ) as talk:
        talk.say("plan it")
        talk.say("/clear")
        talk.say(LONG)
        talk.say(LONG)
        talk.say("go on")
    assert _seen(place) == [
        "SessionStart startup -",
        "UserPromptSubmit plan",
        "SessionStart clear -",
        "UserPromptSubmit plan",
        "UserPromptSubmit plan",
        "UserPromptSubmit plan",
        "PreCompact auto -",
        "SessionStart compact -",
        "PostCompact auto -",
    ]
    assert len({one["CLAUDE_PID"] for one in place.payloads()}) == 1


def test_a_resumed_conversation_is_in_plan_mode_again(place: Place) -> None:
    place.model.play(SCRIPT, ENTERS, DONE, DONE)
    with Talk(place, answer=_allow) as talk:
        talk.say("plan it")
    with Talk(place, "--continue", answer=_allow) as talk:
        talk.say("go on")
    assert _seen(place)[-2:] == ["SessionStart resume -", "UserPromptSubmit plan"]


def test_a_subagent_carries_its_id_and_the_mode_of_the_conversation(place: Place) -> None:
    agents = place.shop / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "wild.md").write_text(
        "---\nname: wild\ndescription: w\npermissionMode: bypassPermissions\n---\nDo it.\n"
    )
    started = Call(
        "Agent",
        {"description": "d", "prompt": "TASK", "subagent_type": "wild", "run_in_background": False},
    )
    place.model.play(SCRIPT, answer(started), _writes(place), DONE, DONE)
    with Talk(place, *PLANNING) as talk:
        talk.say("plan it")
    assert "PreToolUse Write plan subagent" in _seen(place)
    assert not (place.shop / "made.txt").exists()


def test_the_end_of_a_background_task_comes_as_a_prompt_in_tags(place: Place) -> None:
    started = Call("Agent", {"description": "d", "prompt": "TASK", "subagent_type": "general-purpose"})
    place.model.play(SCRIPT, answer(started), DONE, DONE, DONE, DONE)
    with Talk(place, "--permission-mode", "acceptEdits", answer=_allow) as talk:
        talk.say("do it")
    prompts = [one["prompt"] for one in place.payloads() if one["hook_event_name"] == "UserPromptSubmit"]
    assert [prompt.partition(">")[0] for prompt in prompts] == ["do it", "<task-notification"]


def test_the_plan_file_stands_in_the_transcript_beside_the_first_call(place: Place) -> None:
    place.model.play(SCRIPT, PLANS, DONE)
    with Talk(place, *PLANNING, answer=_allow) as talk:
        talk.say("plan it")
    (call,) = [one for one in place.payloads() if one["hook_event_name"] == "PreToolUse"]
    lines = call["TRANSCRIPT"].splitlines()
    assert plan_file_in(lines) == call["tool_input"]["file_path"]
    assert (place.home / ".claude" / "plans").is_dir()


def test_in_plan_mode_allow_changes_the_input_and_does_not_spare_the_question(place: Place) -> None:
    look = place.room / "look"
    look.write_text("#!/bin/sh\n")
    look.chmod(0o755)
    changed = {"permissionDecision": "allow", "updatedInput": {"command": str(look), "description": "d"}}
    place.settle(
        {
            "hooks": place.recording({"PreToolUse:Bash": changed}),
            "useAutoModeDuringPlan": False,
            "permissions": {"deny": ["Bash(git log)"]},
        }
    )
    asked: list[object] = []

    def _noted(tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append((tool, given["command"]))
        return Allow

    runs = answer(Call("Bash", {"command": "git log", "description": "d"}))
    place.model.play(SCRIPT, runs, DONE, runs, DONE)
    with Talk(place, *PLANNING, answer=_noted) as talk:
        talk.say("plan it")
        # A rule of the user against the command as the agent wrote it is not looked at.
        assert asked == [("Bash", str(look))]
        talk.control("set_permission_mode", mode="default")
        talk.say("go on")
    assert asked == [("Bash", str(look))]


def test_a_bypass_flag_beats_plan_mode_and_no_payload_says_plan(place: Place) -> None:
    place.model.play(SCRIPT, _writes(place), DONE)
    with Talk(
        place, *PLANNING, "--dangerously-skip-permissions", answer=_allow, environment={"IS_SANDBOX": "1"}
    ) as talk:
        talk.say("plan it")
    assert {one.get("permission_mode") for one in place.payloads()} == {None, "bypassPermissions"}


def test_in_a_terminal_approval_with_a_cleared_context_tells_no_tool_and_no_prompt(place: Place) -> None:
    place.settle(
        {
            "hooks": place.recording(),
            "showClearContextOnPlanAccept": True,
            "permissions": {"defaultMode": "default"},
        }
    )
    place.model.play(SCRIPT, PLANS, EXITS, _writes(place), DONE)
    with Terminal(place, *PLANNING) as terminal:
        terminal.type("plan it")
        terminal.sees(r"1\. Yes, clear context")
        terminal.answer("1", lambda screen: "Yes, clear context" not in screen)
        terminal.sees("DONE")
    assert _seen(place)[-5:] == [
        "PreToolUse ExitPlanMode plan",
        "SessionStart clear -",
        "PreToolUse Write auto",
        "PostToolUse Write auto",
        "PostToolBatch auto",
    ]
    assert _held(place) is None


@pytest.mark.long
def test_in_a_terminal_esc_tells_nothing_and_shift_tab_shows_at_the_next_prompt(place: Place) -> None:
    place.settle({"hooks": place.recording(), "permissions": {"defaultMode": "default"}})
    place.model.play(SCRIPT, PLANS, EXITS, answer(Say("FIRST")), answer(Say("SECOND")), answer(Say("THIRD")))
    with Terminal(place, *PLANNING) as terminal:
        terminal.type("plan it")
        terminal.sees("Ready to code")
        terminal.answer("Escape", lambda screen: "User rejected" in screen)
        terminal.type("/clear")
        terminal.until(lambda _: "SessionStart clear -" in _seen(place), "SessionStart clear")
        terminal.type("one")
        terminal.sees("FIRST")
        held = _held(place)
        terminal.press("BTab")
        terminal.sees("auto mode on")
        terminal.type("two")
        terminal.sees("SECOND")
    assert held is not None
    assert _seen(place)[-4:] == [
        "PreToolUse ExitPlanMode plan",
        "SessionStart clear -",
        "UserPromptSubmit plan",
        "UserPromptSubmit auto",
    ]
    assert _held(place) is None
