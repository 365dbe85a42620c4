"""A user plans with the real `claude` and the plugin, in a terminal: enter, refuse, ask, approve, restore."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.live.conversation import SCRIPT, Place
from tests.live.terminal import Terminal
from tests.live.test_seed_0_reload import flat
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from tests.model import Model
    from tests.model.steps import Step

pytestmark = pytest.mark.live
BIN = Path(sys.executable).parent
"""Where asbuilt is installed: the plugin's commands know it by its name there."""
GIVEN = r"{{re:create your plan at (\S+\.md)}}"
ENTERS, EXITS = answer(Call("EnterPlanMode", {})), answer(Call("ExitPlanMode", {}))
QUESTION = {
    "question": "Which store?",
    "header": "Store",
    "multiSelect": False,
    "options": [{"label": "Redis", "description": "shared"}, {"label": "Memory", "description": "fast"}],
}
PLANS = answer(
    Call("Write", {"file_path": GIVEN, "content": "# Login\n\n## Phase 1: Form\n\n- [ ] a form\n"})
)


class Desk:
    """A user with Claude Code, in acceptEdits, and the plugin."""

    def __init__(self, room: Path, model: Model) -> None:
        self.place, self.model = Place(room, model), model
        self.made = self.place.shop / "made.txt"
        self.place.settle({"permissions": {"defaultMode": "acceptEdits", "disableAutoMode": "disable"}})
        lodging = self.place.lodging
        path = f"{BIN}:{lodging.environment['PATH']}"
        self.environ = {**lodging.environment, "PATH": path, "HOME": str(self.place.home)}
        self.asbuilt("init", "--claude")

    def asbuilt(self, *arguments: str) -> str:
        """Type a command at another terminal."""
        return subprocess.run(
            [BIN / "asbuilt", *arguments],
            cwd=self.place.shop, env=self.environ, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=True,
        ).stdout  # fmt: skip

    def terminal(self) -> Terminal:
        """Start a conversation."""
        return Terminal(self.place, environment=self.environ)

    def writes(self) -> Step:
        """Make a file that is no plan."""
        return answer(Call("Write", {"file_path": str(self.made), "content": "made\n"}))

    def told(self) -> list[str]:
        """Return what the model was told, request by request."""
        return [one.words for one in self.model.requests(SCRIPT) if one.is_main]


@pytest.fixture
def desk(room: Path, model: Model) -> Desk:
    return Desk(room, model)


def test_a_plan_mode_session_enter_refuse_ask_approve_restore(desk: Desk) -> None:
    desk.model.play(
        SCRIPT, ENTERS, desk.writes(), answer(Say("I have read it all.")),
        answer(Call("AskUserQuestion", {"questions": [QUESTION]})), PLANS, EXITS, desk.writes(),
        answer(Say("It is done.")),
    )  # fmt: skip
    with desk.terminal() as terminal:
        terminal.type("log people in")
        terminal.sees(r"Enter plan mode\?")
        terminal.answer("Enter", lambda screen: "Enter plan mode?" not in screen)
        terminal.sees("Which store")
        assert not desk.made.exists()
        terminal.answer("1", lambda screen: "→ Redis" in screen or "Which store?" not in screen)
        terminal.sees("Ready to code")
        print(terminal.screen())
        terminal.answer("1", lambda screen: "Ready to code" not in screen)
        print(terminal.sees("It is done"))
    told = desk.told()
    assert "plan mode is read-only and Write changes made.txt" in told[2]
    assert "this turn ends without a question and without a request to leave" in told[3]
    assert "Plan mode is off; permission mode: acceptEdits." in told[6]
    assert desk.made.read_text() == "made\n"
    assert desk.model.left(SCRIPT) == 0


def test_what_the_users_command_turned_on_ends_by_an_approval_and_by_the_way_out(desk: Desk) -> None:
    desk.model.play(
        SCRIPT, ENTERS, PLANS, EXITS, answer(Say("FIRST is approved.")),
        desk.writes(), answer(Say("SECOND was refused, was it?")), answer(Say("THIRD is off.")),
        desk.writes(), answer(Say("FOURTH is made.")),
    )  # fmt: skip
    with desk.terminal() as terminal:
        terminal.type("/asbuilt:plan log people in")
        terminal.sees("Ready to code")
        terminal.answer("1", lambda screen: "Ready to code" not in screen)
        terminal.sees("FIRST is approved")
        terminal.type("/asbuilt:plan log them out too")
        terminal.sees("SECOND was refused")
        assert not desk.made.exists()
        terminal.type("/asbuilt:plan exit")
        terminal.sees("THIRD is off")
        terminal.type("now make it")
        print(terminal.sees("FOURTH is made"))
    assert desk.made.read_text() == "made\n"
    told = desk.told()
    assert "Enabled plan mode. Read-only, except for a plan in plans." in flat(told[0])
    assert "Plan mode is off; permission mode: acceptEdits." in told[3]
    assert "Plan mode is off. Permission mode: acceptEdits. Work may start." in flat(told[6])
    assert desk.model.left(SCRIPT) == 0
