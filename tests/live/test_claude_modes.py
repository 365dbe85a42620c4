"""What Claude Code itself does about permission modes, so that asbuilt does not: requirements M1 to M23.

Each test names what a user would miss if a version no longer did it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.live.conversation import SCRIPT, Allow, Deny, Place, Talk
from tests.live.test_plan_mode import DONE, ENTERS, EXITS, PLANS
from tests.model import Call, answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live

RUNS = answer(Call("Bash", {"command": "touch made.txt", "description": "make"}))
BYPASS = ("--permission-mode", "bypassPermissions", "--dangerously-skip-permissions")


class Host:
    """A conversation whose host answers, and whose hooks are on record."""

    def __init__(self, room: Path, model: Model, **settings: object) -> None:
        self.place, self.asked, self.yes = Place(room, model), [], True
        self.settle(**settings)

    asked: list[str]

    def settle(self, **settings: object) -> None:
        """Write the user's settings."""
        self.place.settle({"hooks": self.place.recording(), "useAutoModeDuringPlan": False, **settings})

    def answer(self, tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Note what is asked, and answer it."""
        del given
        self.asked.append(tool)
        return Allow if self.yes else Deny

    def talk(self, *arguments: str) -> Talk:
        """Start the conversation."""
        return Talk(self.place, *arguments, answer=self.answer, environment={"IS_SANDBOX": "1"})

    def modes(self) -> list[str]:
        """Return the modes of all payloads, each change once."""
        heard = [one for one in self.place.payloads() if one["hook_event_name"] != "PermissionRequest"]
        found = [one["permission_mode"] for one in heard if "permission_mode" in one]
        return [mode for at, mode in enumerate(found) if at == 0 or mode != found[at - 1]]

    def denied(self) -> int:
        """Count the calls that auto mode's judge refused: it cannot be asked here."""
        return sum(one["hook_event_name"] == "PermissionDenied" for one in self.place.payloads())

    def told(self) -> list[str]:
        """Return all texts of each request to the model."""
        return [one.words for one in self.place.model.requests(SCRIPT) if one.is_main]


def test_a_conversation_is_in_one_mode_and_enters_and_leaves_each(room: Path, model: Model) -> None:
    host = Host(room, model)
    modes = ["acceptEdits", "plan", "auto", "bypassPermissions", "default"]
    model.play(SCRIPT, *[DONE] * len(modes))
    with host.talk("--allow-dangerously-skip-permissions") as talk:
        for mode in modes:
            talk.control("set_permission_mode", mode=mode)
            talk.say("go on")
    assert host.modes() == modes


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto", "bypassPermissions"])
def test_an_approved_exit_restores_the_mode_before_and_a_rejected_one_does_not(
    room: Path, model: Model, mode: str
) -> None:
    host = Host(room, model)
    model.play(SCRIPT, ENTERS, ENTERS, PLANS, EXITS, DONE, EXITS, DONE)
    with host.talk(*(BYPASS if mode == "bypassPermissions" else ("--permission-mode", mode))) as talk:
        host.yes = False
        talk.say("plan it")
        assert host.modes() == [mode, "plan"]
        host.yes = True
        talk.say("go on")
    assert host.modes() == [mode, "plan", mode]


@pytest.mark.parametrize(
    ("mode", "during", "judged"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("default", True, True),
        ("bypassPermissions", True, False),
    ],
)
def test_auto_mode_decides_during_planning_as_the_user_chose_and_never_over_bypass(
    room: Path, model: Model, mode: str, *, during: bool, judged: bool
) -> None:
    host = Host(room, model, useAutoModeDuringPlan=during)
    model.play(SCRIPT, ENTERS, RUNS, DONE)
    with host.talk(*(BYPASS if mode == "bypassPermissions" else ("--permission-mode", mode))) as talk:
        talk.say("plan it")
    assert (host.denied(), host.asked) == ((1, []) if judged else (0, ["Bash"]))


def test_that_choice_takes_effect_while_planning(room: Path, model: Model) -> None:
    host = Host(room, model)
    model.play(SCRIPT, ENTERS, RUNS, DONE, RUNS, DONE)
    with host.talk() as talk:
        talk.say("plan it")
        assert (host.denied(), host.asked) == (0, ["Bash"])
        host.settle(useAutoModeDuringPlan=True)
        talk.control("apply_flag_settings", settings={"useAutoModeDuringPlan": True})
        talk.say("go on")
    assert (host.denied(), host.asked) == (1, ["Bash"])


def test_rules_that_allow_everything_are_set_aside_with_auto_mode_and_come_back(
    room: Path, model: Model
) -> None:
    host = Host(room, model, useAutoModeDuringPlan=True, permissions={"allow": ["Bash"]})
    model.play(SCRIPT, RUNS, ENTERS, RUNS, PLANS, EXITS, RUNS, DONE)
    with host.talk() as talk:
        talk.say("plan it")
    ran = [one["permission_mode"] for one in host.place.payloads() if _is_run(one)]
    assert (ran, host.denied(), host.asked) == (["default", "default"], 1, ["ExitPlanMode"])


def _is_run(payload: Mapping[str, Any]) -> bool:
    return (payload["hook_event_name"], payload.get("tool_name")) == ("PostToolUse", "Bash")


def test_where_auto_mode_has_been_switched_off_meanwhile_an_exit_leads_to_default_and_says_so(
    room: Path, model: Model
) -> None:
    host = Host(room, model)
    model.play(SCRIPT, ENTERS, PLANS, DONE, EXITS, DONE)
    with host.talk("--permission-mode", "auto") as talk:
        talk.say("plan it")
        host.settle(permissions={"disableAutoMode": "disable"})
        talk.control("apply_flag_settings", settings={"permissions": {"disableAutoMode": "disable"}})
        talk.say("go on")
    assert host.modes() == ["auto", "plan", "default"]
    said = [line.get("text") for line in talk.said if line.get("subtype") == "notification"]
    assert "plan exit → default · auto mode disabled by settings" in said


def test_where_no_user_can_answer_an_agent_cannot_enter_and_outside_it_cannot_leave(
    room: Path, model: Model
) -> None:
    host = Host(room, model)
    model.play(SCRIPT, ENTERS, DONE)
    with Talk(host.place) as talk:
        talk.say("plan it")
    model.play(SCRIPT, EXITS, DONE)
    with host.talk() as talk:
        talk.say("leave it")
    assert "EnterPlanMode is disabled for this session" in host.told()[1]
    assert "You are not in plan mode." in host.told()[3]
    assert host.asked == []


def test_in_out_and_in_between_two_prompts_gives_notices_that_agree(room: Path, model: Model) -> None:
    host = Host(room, model)
    model.play(SCRIPT, DONE, DONE, DONE)
    with host.talk() as talk:
        talk.say("hello")
        for mode in ("plan", "default", "plan"):
            talk.control("set_permission_mode", mode=mode)
        talk.say("plan it")
        for mode in ("default", "plan", "default"):
            talk.control("set_permission_mode", mode=mode)
        talk.say("do it")
    _, planning, working = host.told()
    assert ("Plan mode is active." in planning, "exited plan mode" in planning) == (True, False)
    assert working.count("You have exited plan mode") == 1
