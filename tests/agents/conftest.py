"""A machine for agents: a state folder, a workspace with its .git file, a home with secrets, and a ring."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.sandbox.launch import probe
from asbuilt.ports import Brief

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.policy.sandbox.rules import Level
    from tests.contracts.attempts import Part

WORK_LEVELS = sorted({probe().for_work, "none"})

_HERE = '{ say = "here I am" }'
_MADE = '{ write = "made.txt", text = "made\\n" }, { say = "made it" }'
_SLEEPER = '{ spawn = ["sleep", "300"] }'
PARTS = {
    "works": _MADE,
    "hangs": f"{_HERE}, {{ hang = true }}",
    "hangs with a child of its own session": (
        f'{_SLEEPER}, {{ spawn = "(setsid sleep 300 &)" }}, {_HERE}, {{ hang = true }}'
    ),
    "ignores TERM": f"{{ ignore_term = true }}, {_SLEEPER}, {_HERE}, {{ hang = true }}",
    "works slowly": f"{_HERE}, {{ sleep = 2 }}, {_MADE}",
    "crashes": f'{_HERE}, {{ signal = "SEGV" }}',
    "meets its usage limit": "{ limit = 2031-05-06T07:08:09Z }",
    "asks to edit outside": (
        '{ ask = "edit", path = "../outside.txt" }, { write = "../outside.txt", text = "", when = "allowed" }'
    ),
    "writes although it may not": _MADE,
    "fails item 2": '{ verdict = "fail", items = [2], why = "no test" }',
}


@dataclass
class Machine:
    """A stage with the scripted agent on it."""

    root: Path
    level: Level
    abandon_s: float = 2.0
    grace_s: float = 1.0
    mark: str = field(default_factory=lambda: f"ASBUILT_TEST_MARK={uuid.uuid4()}")

    def __post_init__(self) -> None:
        self.state = self.root / "state"
        self.home = self.root / "home"
        self.common = self.root / "shop" / ".git"
        self.workspace = self.state / "workspaces" / "shop" / "run" / "main"
        for folder in (self.home / ".ssh", self.common / "hooks", self.workspace / "plans"):
            folder.mkdir(parents=True)
        (self.home / ".ssh" / "id").write_text("a secret\n")
        (self.home / ".netrc").write_text("a secret\n")
        (self.common / "config").write_text("[core]\n")
        (self.workspace / ".git").write_text(f"gitdir: {self.common}/worktrees/main\n")
        (self.workspace / "plans" / "login.md").write_text("# Login\n")
        (self.state / "journal.db").write_text("the truth\n")
        self.attempts = FolderAttempts(
            self.state,
            home=self.home,
            level=self.level,
            sandbox_required=False,
            abandon_s=self.abandon_s,
            grace_s=self.grace_s,
        )

    def brief(self, part: Part, **changes: object) -> Brief:
        if part == "hangs in its first start":
            return self.playing(
                f"[[turn]]\nstart = 1\nacts = [{PARTS['hangs']}]\n[[turn]]\nacts = [{PARTS['works']}]\n",
                **changes,
            )
        return self.playing(f"[[turn]]\nacts = [{PARTS[part]}]\n", **changes)

    def playing(self, script: str, **changes: object) -> Brief:
        file = self.root / "script.toml"
        file.write_text(script)
        name, _, value = self.mark.partition("=")
        brief = Brief(
            attempt="01J.1.1",
            role="implement",
            agent="scripted",
            workspace=self.workspace,
            writable=True,
            phase="1",
            title="Login",
            text="Do it.\n",
            intent="sha256:0",
            items=("one", "two", "three"),
            tests=None,
            stall_s=60,
            overall_s=120,
            protected=(Path("plans/login.md"),),
            script=file,
            environment={"PATH": os.environ["PATH"], name: value},
        )
        return replace(brief, **changes)


@pytest.fixture(params=WORK_LEVELS)
def level(request: pytest.FixtureRequest) -> Level:
    """Take every ring that works here, and none at all."""
    chosen: Level = request.param
    return chosen


@pytest.fixture
def machine(tmp_path: Path, level: Level) -> Iterator[Machine]:
    """Make a machine, and leave no attempt on it."""
    made = Machine(root=tmp_path / "m", level=level)
    yield made
    shutil.rmtree(made.state / "runs", ignore_errors=True)
