"""A user with a repository, a plan, the real `claude` and the plugin, who types to it without a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asbuilt.journal.engine.liveness import holder
from tests.live.conversation import SCRIPT, Place, Talk
from tests.live.stage import git
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.model import Model

BIN = Path(sys.executable).parent
GREET = "plans/greet.md"
PLAN = """\
# Greet

## Phase 1: Hello

- [x] print hello

## Phase 2: Bye

Depends on phase 1.

- [ ] print bye

### Verification

- `grep -q bye bye.py`
"""


class Desk:
    """The user. Whoever is asked answers by the function that a conversation is given."""

    def __init__(self, room: Path, model: Model) -> None:
        self.place, self.model, self.state = Place(room, model), model, room / "state"
        own = self.place.lodging.environment
        self.environ = {
            **own,
            "PATH": f"{BIN}:{self.place.lodging.program.parent}:{own['PATH']}",
            "HOME": str(self.place.home),
            "ASBUILT_HOME": str(self.state),
            "ASBUILT_SANDBOX_REQUIRED": "false",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        (self.place.shop / "plans").mkdir()
        (self.place.shop / GREET).write_text(PLAN, encoding="utf-8")
        git(self.place.shop, "config", "user.name", "Ada")
        git(self.place.shop, "config", "user.email", "ada@localhost")
        git(self.place.shop, "add", ".")
        git(self.place.shop, "commit", "--quiet", "--message=a plan")
        command = [str(BIN / "asbuilt"), "init", "--claude"]
        subprocess.run(command, cwd=self.place.shop, env=self.environ, capture_output=True, check=True)

    def talk(self, answers: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]) -> Talk:
        """Start a conversation in which a function answers what the user is asked."""
        return Talk(self.place, answer=answers, environment=self.environ)

    def asbuilt(self, *arguments: str) -> str:
        """Type a command at a terminal."""
        return subprocess.run(
            [BIN / "asbuilt", *arguments], cwd=self.place.shop, env=self.environ, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        ).stdout  # fmt: skip

    def type(self, talk: Talk, prompt: str, command: str) -> str:
        """Type a prompt for which the model runs a command; return what the model gets of it."""
        call = Call("Bash", {"command": command, "description": "run"})
        self.model.play(SCRIPT, answer(call), answer(Say("shown")))
        talk.say(prompt)
        last = [one for one in self.model.requests(SCRIPT) if one.is_main][-1]
        results = [
            part
            for message in last.body["messages"]
            for part in message["content"]
            if isinstance(part, dict) and part.get("type") == "tool_result"
        ]
        return " ".join(str(results[-1]["content"]).replace("\\n", " ").split())

    def close(self) -> None:
        """End the worker."""
        if pid := holder(self.state / "worker.lock"):
            os.kill(pid, signal.SIGKILL)
