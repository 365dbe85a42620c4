"""A plan authored in a conversation with the real `claude` in a terminal, from the command to the yes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.journal.engine.liveness import holder
from tests.authoring.desk import say, turn
from tests.authoring.outputs import PROMISE
from tests.authoring.test_conversations import BETTER, CRITIQUE, STAGES, WANTED
from tests.live.conversation import SCRIPT, Place
from tests.live.stage import git
from tests.live.terminal import Terminal
from tests.model import Call, Hang, Say, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.model import Model

pytestmark = pytest.mark.live
BIN = Path(sys.executable).parent
"""Where asbuilt is installed: Claude Code knows it by its name there."""
NEXT = answer(Call("Bash", {"command": "asbuilt author next"}))


class Study:
    """A person with Claude Code, the plugin, and a critic that plays a script."""

    def __init__(self, room: Path, model: Model) -> None:
        self.place, self.model, self.state = Place(room, model), model, room / "state"
        self.place.settle({"permissions": {"defaultMode": "default", "disableAutoMode": "disable"}})
        self.script = room / "critic.toml"
        self.script.write_text(turn("critique-1", say(CRITIQUE)), encoding="utf-8")
        lodging = self.place.lodging
        self.environ = {
            **lodging.environment,
            "PATH": f"{BIN}:{lodging.environment['PATH']}",
            "HOME": str(self.place.home),
            "ASBUILT_HOME": str(self.state),
            "ASBUILT_AGENTS_IMPLEMENT": "scripted",
            "ASBUILT_SANDBOX_REQUIRED": "false",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        shop = self.place.shop
        (shop / "plans").mkdir()
        for name in ("mine.md", "plans/greet.md"):
            (shop / name).write_text("# Mine\n", encoding="utf-8")
        git(shop, "add", ".")
        git(shop, "commit", "--quiet", "--message=files to read")
        self.asbuilt("init", "--claude")

    def terminal(self, *arguments: str) -> Terminal:
        """Start a conversation."""
        return Terminal(self.place, *arguments, environment=self.environ)

    def asbuilt(self, *arguments: str) -> str:
        """Type a command at another terminal."""
        return subprocess.run(
            [BIN / "asbuilt", *arguments],
            cwd=self.place.shop,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        ).stdout

    def told(self) -> list[str]:
        """List what the conversation was told, request by request."""
        return [one.words for one in self.model.requests(SCRIPT) if one.is_main]

    def close(self) -> None:
        """End the worker."""
        pid = holder(self.state / "worker.lock")
        if pid:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def study(room: Path, model: Model) -> Iterator[Study]:
    made = Study(room, model)
    yield made
    made.close()


@pytest.mark.long
def test_a_conversation_that_is_killed_between_stages_is_resumed_and_goes_on(study: Study) -> None:
    study.model.play(
        SCRIPT, answer(Say(STAGES[0])), Hang(),
        *(answer(Say(one)) for one in STAGES[1:]), answer(Say("I wait for the critic.")),
    )  # fmt: skip
    with study.terminal() as terminal:
        terminal.type(f"/asbuilt:author {WANTED} --refine-iterations 1 --name hey --script {study.script}")
        terminal.until(lambda _: len(study.told()) > 1, "a stage that was accepted")
        (folder,) = (study.state / "conversations").iterdir()
        os.kill(int(folder.name.partition("-")[0]), signal.SIGKILL)
    with study.terminal("--continue") as terminal:
        terminal.type("/asbuilt:author next")
        terminal.sees("I wait for the critic")
    assert study.model.left(SCRIPT) == 0
    assert "[2/6] explore" in study.told()[2]
    assert "hey: critique-1 is next, by another process." in study.told()[-1]


def test_a_plan_is_authored_in_a_conversation_and_approved(study: Study) -> None:
    made = {"file_path": str(study.place.shop / "made.txt"), "content": "made\n"}
    said = [Say(one) for one in ("I know what to do.", *STAGES)]
    study.model.play(
        SCRIPT, *map(answer, said), NEXT, answer(Say(BETTER + PROMISE)), NEXT, answer(Say("It is a1 now.")),
        answer(Say("It is APPROVED.")), answer(Call("Write", made)), answer(Say("It is MADE.")),
    )  # fmt: skip
    with study.terminal() as terminal:
        terminal.type(f"/asbuilt:author {WANTED} --refine-iterations 1 --name hey --script {study.script}")
        print(terminal.sees("It is a1 now"))
        terminal.type("/asbuilt:approve a1")
        terminal.sees("It is APPROVED")
        terminal.type("now make it")
        terminal.sees("Do you want to create")
        terminal.answer("1", lambda screen: "Do you want to create" not in screen)
        terminal.sees("It is MADE")
    assert study.model.left(SCRIPT) == 0
    told = study.told()
    assert f"prompt\n{WANTED}\n" in told[0]
    assert "[1/6] understand" in told[0]
    assert "Stop hook feedback:\nasbuilt: [1/6] understand\n" in told[1]
    assert "[6/6] revise" in told[6]
    assert not (study.state / "conversations.log").exists()
    assert "Plan mode is off; work may start." in " ".join(told[-3].split())
    assert (study.place.shop / "plans/hey.md").read_text(encoding="utf-8").endswith(BETTER)
