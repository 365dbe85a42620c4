"""A real agent on its machine: a repository, a workspace, the HOME of its user, and a model that is scripted.

The one rule: all of it lies in one folder that is not below /tmp: the ring has a /tmp of its own, and codex
does not work from there.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.events.options import AgentProgram
from asbuilt.ports import Brief, Opened
from tests.live.speech import SPEECHES
from tests.live.starting import SYSTEM_PATH, lodged
from tests.model import Refuse, Say, answer

if TYPE_CHECKING:
    from tests.contracts.attempts import Part
    from tests.model import Model
    from tests.model.steps import Step

ITEMS = ("one", "two", "three")
SCRIPT = "agent"
NEXT = Path("plans/next.md")
"""A plan that is not there yet, and not an agent's to write: inside, so that every agent has to ask."""


@dataclass
class LiveStage:
    """The stage of the contract, with a real agent on it."""

    root: Path
    agent: str
    model: Model
    abandon_s: float = 240.0
    grace_s: float = 5.0
    mark: str = field(default_factory=lambda: f"ASBUILT_TEST_MARK={uuid.uuid4()}")

    def __post_init__(self) -> None:
        self.speech = SPEECHES[self.agent]
        self.state = self.root / "state"
        self.workspace = self.state / "workspaces" / "shop" / "run" / "main"
        self.lodging = lodged(self.agent, self.root / "home", self.model.url(SCRIPT))
        shop = self.root / "shop"
        (shop / "plans").mkdir(parents=True)
        (shop / "plans" / "login.md").write_text("# Login\n")
        self.workspace.parent.mkdir(parents=True)
        git(shop, "init", "--quiet", "--initial-branch=main")
        git(shop, "add", ".")
        git(shop, "commit", "--quiet", "--message=a plan")
        git(shop, "worktree", "add", "--quiet", "--detach", str(self.workspace))
        self.attempts = FolderAttempts(
            self.state, home=self.lodging.home, abandon_s=self.abandon_s, grace_s=self.grace_s
        )

    def brief(self, part: Part, **changes: object) -> Brief:
        """Script the model for a part of the contract."""
        return self.playing(*self._steps(part), **changes)

    def playing(self, *steps: Step, **changes: object) -> Brief:
        """Script the model, and give a brief for an agent that hears it."""
        self.model.play(SCRIPT, *steps)
        name, _, value = self.mark.partition("=")
        brief = Brief(
            attempt="01J.1.1",
            role="implement",
            agent=self.agent,
            program=AgentProgram(kind=self.speech.kind, command=(str(self.lodging.program),)),
            workspace=self.workspace,
            writable=True,
            phase="1",
            title="Login",
            text="Do it.\n",
            intent="sha256:0",
            items=ITEMS,
            tests=None,
            stall_s=120,
            overall_s=240,
            protected=(Path("plans/login.md"), NEXT),
            opened=Opened(hosts=(self.model.host,)),
            environment={**self.lodging.environment, name: value},
        )
        return replace(brief, **changes)

    def makes(self, name: str = "made.txt") -> Step:
        """Write a file of the workspace, or of wherever a name leads."""
        return answer(self.speech.writes(self.workspace / name, "made\n"))

    def runs(self, command: str) -> Step:
        """Run a command."""
        return answer(self.speech.runs(command))

    def _steps(self, part: Part) -> tuple[Step, ...]:
        here = answer(Say("here I am"), ends="hanging")
        match part:
            case "works" | "writes although it may not":
                return self.makes(), answer(Say("made it"))
            case "hangs with a child of its own session":
                return self.runs("setsid sleep 300 > /dev/null 2>&1 < /dev/null & echo gone"), here
            case "hangs in its first start":
                return self.makes(), here, answer(Say("made it"))
            case "asks to edit outside":
                return self.makes("../outside.txt"), self.makes(str(NEXT)), answer(Say("it was refused"))
            case "fails item 2":
                return answer(self.speech.judges(verdict_failing(2))), answer(Say("judged"))
            case "meets its usage limit":
                # 2031-05-06T07:08:09Z
                return (Refuse(status=429, message="Claude AI usage limit reached|1935817689"),)
            case _:
                raise ValueError(f"no model makes an agent play {part}")


def verdict_failing(item: int) -> dict[str, Any]:
    """Make the verdict that every item passes but one."""
    seen = [{"file": "plans/login.md", "line": 1}]
    return {
        "items": [
            {"item": 1 + at, "outcome": "FAIL", "why": "no test"}
            if 1 + at == item
            else {"item": 1 + at, "outcome": "PASS", "why": "seen", "evidence": seen}
            for at in range(len(ITEMS))
        ]
    }


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody without a configuration."""
    return subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@localhost", *arguments],  # noqa: S607
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": SYSTEM_PATH, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
    ).stdout
