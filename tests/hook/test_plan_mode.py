"""Plan mode in a conversation: who turns it on, how a turn in it ends, and the ways out of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from asbuilt.hook.conversation import answer
from asbuilt.session.conversation import hold_in
from tests.hook.talk import PLAN, Talk, talk

if TYPE_CHECKING:
    from typing import Any

__all__ = ["talk"]


def before(talk: Talk, tool: str, mode: str = "default", **more: object) -> dict[str, Any]:
    """Call a tool; what the gate decides."""
    call = {"tool_name": tool, "tool_input": {}, "tool_use_id": "toolu_1", "permission_mode": mode, **more}
    said: dict[str, Any] = talk.hears("PreToolUse", **call).get("hookSpecificOutput", {})
    return said


def asbuilt(talk: Talk, *arguments: str) -> str:
    """Run a command inside the conversation, as a skill of the plugin does."""
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", *arguments],
        cwd=talk.shop, env=talk.environ, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return " ".join((done.stdout + done.stderr).split())


def slash(talk: Talk, text: str, *, mode: str = "default") -> str:
    """Type `/asbuilt:plan …`: the prompt's hook, then the command of the skill."""
    talk.prompt(f"/asbuilt:plan {text}".strip(), mode=mode)
    return asbuilt(talk, "mode", "plan")


def is_on(talk: Talk) -> bool:
    return hold_in(str(talk.folder)) is not None


# Who turns it on.


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto", "bypassPermissions"])
def test_an_agent_that_wants_plan_mode_is_confirmed_by_the_user(talk: Talk, mode: str) -> None:
    assert before(talk, "EnterPlanMode", mode) == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": "asbuilt: the agent wants to plan before it changes anything. Yes turns"
        " plan mode on: read-only until you approve a plan. No lets it work without a plan.",
    }
    assert not talk.state.exists()


def test_a_subagent_cannot_turn_it_on(talk: Talk) -> None:
    said = before(talk, "EnterPlanMode", agent_id="a1")
    assert (said["permissionDecision"], said["permissionDecisionReason"]) == (
        "deny",
        "asbuilt: EnterPlanMode tool cannot be used in agent contexts.",
    )


def test_after_the_users_command_the_agent_enters_claude_codes_plan_mode_unasked(talk: Talk) -> None:
    assert "Enabled plan mode." in slash(talk, "log people in", mode="acceptEdits")
    assert before(talk, "EnterPlanMode", "acceptEdits") == {}
    hold = hold_in(str(talk.folder))
    assert hold is not None
    assert (hold.by, hold.before) == ("command", "acceptEdits")


@pytest.mark.parametrize("tool", ["CronCreate", "ScheduleWakeup"])
def test_no_schedule_types_the_users_command(talk: Talk, tool: str) -> None:
    assert before(talk, tool, tool_input={"prompt": "/asbuilt:plan exit"})["permissionDecision"] == "deny"
    assert before(talk, tool, tool_input={"prompt": "run the tests"}) == {}


def test_numbers_are_tasks_and_do_not_turn_it_on(talk: Talk) -> None:
    assert slash(talk, "7, 22-24") == "These are numbers of tasks: asbuilt task plan 7, 22-24"
    assert not is_on(talk)


# How a turn in it ends.


def test_a_turn_that_ends_without_a_question_is_sent_back_once_with_what_is_missing(talk: Talk) -> None:
    talk.prompt("make a plan", mode="plan")
    assert talk.stop(text="I have read the code.") == (
        "asbuilt: plan mode is on, and this turn ends without a question and without a request to leave."
        " No plan is written yet. If the plan is complete, call ExitPlanMode. Otherwise continue, or ask the"
        " user what you need to know with AskUserQuestion. This turn will not be sent back again."
    )
    assert talk.stop(text="I have read the code.", active=True) == ""
    assert talk.stop(text="I have read the code.") == ""
    talk.prompt("and now?", mode="plan")
    assert "No plan is written yet." in talk.stop(text="I have read more.")


def test_a_turn_in_which_the_agent_entered_plan_mode_is_sent_back_too(talk: Talk) -> None:
    talk.prompt("make it")
    talk.hears("PostToolUse", tool_name="EnterPlanMode", tool_input={}, permission_mode="plan")
    assert "No plan is written yet." in talk.stop(text="I have read the code.")


@pytest.mark.parametrize("text", ["Two ways are possible.\n\nWhich one do you want?", "どちらにしますか？"])
def test_a_question_in_words_ends_a_turn(talk: Talk, text: str) -> None:
    talk.prompt("make a plan", mode="plan")
    assert talk.stop(text=text) == ""


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode"])
def test_a_question_by_a_tool_ends_a_turn_if_it_is_the_last_call(talk: Talk, tool: str) -> None:
    talk.prompt("make a plan", mode="plan")
    before(talk, tool, "plan")
    assert talk.stop(text="Noted.") == ""
    talk.prompt("go on", mode="plan")
    before(talk, tool, "plan")
    before(talk, "TodoWrite", "plan")
    assert "without a question" in talk.stop(text="Noted.")


def test_a_turn_that_waits_for_subagents_or_has_no_user_is_not_sent_back(talk: Talk) -> None:
    talk.prompt("make a plan", mode="plan")
    ending = {"last_assistant_message": "I wait.", "stop_hook_active": False, "permission_mode": "plan"}
    assert talk.hears("Stop", **ending, background_tasks=[{"id": "t1"}]) == {}
    talk.environ["CLAUDE_CODE_SESSION_ATTENDED"] = "0"
    assert talk.hears("Stop", **ending) == {}


# The ways out.


def test_the_user_types_the_way_out_where_they_are_and_the_mode_before_is_said(talk: Talk) -> None:
    slash(talk, "log people in", mode="acceptEdits")
    talk.prompt("go on", mode="acceptEdits")
    assert is_on(talk)
    assert slash(talk, "exit", mode="acceptEdits") == (
        "Plan mode is off. Permission mode: acceptEdits. Work may start."
    )
    assert not is_on(talk)


def test_an_approved_plan_ends_what_the_users_command_began(talk: Talk) -> None:
    slash(talk, "limit requests", mode="acceptEdits")
    plan = talk.plan(text=PLAN)
    before(talk, "EnterPlanMode", "acceptEdits")
    before(talk, "ExitPlanMode", "plan", tool_input={"planFilePath": str(plan)})
    approved = {"tool_name": "ExitPlanMode", "tool_input": {}, "tool_response": {"filePath": str(plan)}}
    told = talk.context("PostToolUse", permission_mode="acceptEdits", **approved)
    assert "Plan mode is off; permission mode: acceptEdits." in told
    assert not is_on(talk)


def test_claude_codes_own_plan_mode_is_left_there(talk: Talk) -> None:
    slash(talk, "limit requests")
    assert "press Shift+Tab, or approve the plan." in slash(talk, "exit", mode="plan")
    assert is_on(talk)
    talk.prompt("go on", mode="default")
    assert not is_on(talk)


def test_a_background_task_that_quotes_the_command_is_not_the_user(talk: Talk) -> None:
    slash(talk, "limit requests")
    talk.prompt("<task-notification>/asbuilt:plan exit</task-notification>")
    talk.prompt("what does /asbuilt:plan exit do?")
    assert is_on(talk)


def test_back_in_plan_mode_the_agent_gets_the_earlier_plan_once(talk: Talk) -> None:
    slash(talk, "limit requests")
    plan = talk.plan(text=PLAN)
    talk.prompt("go on")
    talk.approve(plan)
    slash(talk, "also log it")
    first, second = talk.prompt("go on"), talk.prompt("go on")
    assert first.startswith(f"Plan mode is on again. The earlier plan is in {plan}: read it first.")
    assert "Plan mode is on. The user wants a plan before any work" in first
    assert second == ""


def test_reminders_come_every_fifth_prompt_of_the_user_and_are_full_at_the_1st_6th_and_11th(
    talk: Talk,
) -> None:
    slash(talk, "limit requests")
    told = []
    for number in range(1, 53):
        told.append((number, answer_to(talk, "go on")))
        assert answer_to(talk, "<task-notification>") == ""
    spoken = [(number, text) for number, text in told if text]
    assert [number for number, _ in spoken] == [1 + 5 * count for count in range(11)]
    full = [number for number, text in spoken if text.startswith("Plan mode is on. The user wants a plan")]
    assert full == [1, 26, 51]
    assert all("a new Markdown file in the folder of plans" in text for _, text in spoken)
    assert len(spoken[0][1]) > 2_000


def test_every_fifth_reminder_is_the_whole_way_of_working_and_the_others_name_the_plan_file(
    talk: Talk,
) -> None:
    slash(talk, "limit requests")
    plan = talk.shop / "plans" / "limits.md"
    told = [talk.prompt("go on")]
    before(talk, "Write", tool_input={"file_path": str(plan), "content": PLAN})
    plan.write_text(PLAN, encoding="utf-8")
    told += [talk.prompt("go on") for _ in range(25)]
    spoken = {number: text for number, text in enumerate(told, 1) if text}
    full = "Plan mode is on. The user wants a plan"
    assert {number: text.startswith(full) for number, text in spoken.items()} == {
        1: True, 6: False, 11: False, 16: False, 21: False, 26: True,
    }  # fmt: skip
    assert str(plan) in spoken[6]
    assert (len(spoken[6]) < 600, len(spoken[26]) > 2_000) == (True, True)


def answer_to(talk: Talk, prompt: str) -> str:
    """Give what the hook tells the agent with a prompt; without a process, because there are many."""
    payload = talk.payload("UserPromptSubmit", permission_mode="default", prompt=prompt)
    said = answer("UserPromptSubmit", json.dumps(payload).encode(), talk.environ, time.time())
    text: str = json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""
    return text


def test_a_hold_of_an_older_version_is_read(talk: Talk) -> None:
    slash(talk, "limit requests")
    file = talk.folder / "hold"
    fields = json.loads(file.read_text())
    del fields["asked"]
    file.write_text(json.dumps(fields))
    assert slash(talk, "exit").startswith("Plan mode is off.")
