"""Six ways to write, in eight states of a conversation in plan mode: docs/explanation/planning.md.

Whoever is asked says yes to everything but the plan of a state that is about a rejection: what does not
happen was refused by somebody else. An outcome is read from the disk, then from what the model was told.
The one rule: every try would succeed in a conversation that may write.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from tests.live.conversation import SCRIPT, Allow, Deny, Talk
from tests.live.starting import QUIET
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.live.conversation import Place
    from tests.model.steps import Step

Tool = Literal["Write", "Edit", "NotebookEdit", "Bash", "MCP tool", "subagent"]
State = Literal[
    "plain",
    "after rejection",
    "after /clear",
    "after compaction",
    "after an approval of another plan",
    "user allow rules",
    "acceptEdits",
    "bypassPermissions",
]
Outcome = Literal[
    "asbuilt", "kernel", "Claude Code", "written after a yes", "written without a question", "not tried"
]

TOOLS: Final[tuple[Tool, ...]] = get_args(Tool)
STATES: Final[tuple[State, ...]] = get_args(State)
PEN: Final = Path(__file__).with_name("pen.py")
PLANS: Final = answer(
    Call("Write", {"file_path": r"{{re:create your plan at (\S+?) using}}", "content": "# Plan\n1. do\n"})
)
EXITS: Final = answer(Call("ExitPlanMode", {}))
DONE: Final = answer(Say("DONE"))
ALLOWED: Final = ("Write", "Edit", "NotebookEdit", "Bash", "Agent", "mcp__pen__write")
"""What a user may have allowed for good."""
TARGETS: Final[Mapping[Tool, str]] = {
    "Write": "written.txt",
    "Edit": "app.py",
    "NotebookEdit": "book.ipynb",
    "Bash": "touched.txt",
    "MCP tool": "penned.txt",
    "subagent": "delegated.txt",
}
_KERNEL: Final = ("EROFS", "Read-only file system")


@dataclass
class Trial:
    """One conversation in one state, and what was asked in it."""

    place: Place
    state: State
    rejects: bool = False
    asked: list[str] = field(default_factory=list)

    def answers(self, tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Say yes, but for a plan that is to be rejected."""
        self.asked.append(json.dumps(given))
        return Deny if tool == "ExitPlanMode" and self.rejects else Allow

    @property
    def arguments(self) -> tuple[str, ...]:
        """The flags that this state begins with."""
        # Neither a checkout nor its interpreter need to be visible in the ring: /tmp is another one there.
        pen = shutil.copy(PEN, self.place.room)
        servers = {"pen": {"command": str(Path(sys.executable).resolve()), "args": ["-I", pen]}}
        begins = {"acceptEdits": "acceptEdits", "bypassPermissions": "bypassPermissions"}.get(
            self.state, "plan"
        )
        config = json.dumps({"mcpServers": servers})
        return ("--mcp-config", config, "--strict-mcp-config", "--permission-mode", begins)

    @property
    def settings(self) -> dict[str, Any]:
        """The user's settings in this state."""
        allowed = ALLOWED if self.state == "user allow rules" else ()
        # Auto mode would ask a classifier that is not there on loopback, and refuse for that.
        return {
            "useAutoModeDuringPlan": False,
            "permissions": {"allow": list(allowed), "defaultMode": "default"},
        }

    def reach(self, talk: Talk) -> None:
        """Bring a conversation into the state: planning is held in it, and nothing has ended that."""
        play = self.place.model.play
        match self.state:
            case "plain" | "user allow rules":
                pass
            case "after rejection":
                self.rejects = True
                play(SCRIPT, PLANS, EXITS, DONE)
                talk.say("plan it")
                assert "planFilePath" in self.asked[-1]
            case "after /clear":
                play(SCRIPT, PLANS, DONE)
                begun = talk.say("plan it")
                assert talk.say("/clear")["session_id"] != begun["session_id"]
            case "after compaction":
                play(SCRIPT, PLANS, DONE)
                talk.say("plan it")
                play(SCRIPT, answer(Say("a summary")), answer(Say("a summary")))
                talk.say("/compact")
                assert any(line.get("subtype") == "compact_boundary" for line in talk.said)
            case "after an approval of another plan":
                play(SCRIPT, PLANS, EXITS, DONE)
                talk.say("plan it")
                assert "planFilePath" in self.asked[-1]
                talk.control("set_permission_mode", mode="plan")
            case "acceptEdits" | "bypassPermissions":
                talk.control("set_permission_mode", mode="plan")

    def steps(self) -> tuple[Step, ...]:
        """Give the six tries, one after the other; what is edited has been read before."""
        shop = self.place.shop
        at = {tool: str(shop / name) for tool, name in TARGETS.items()}
        delegated = {
            "description": "d",
            "prompt": "write it",
            "subagent_type": "general-purpose",
            "run_in_background": False,
        }
        calls = (
            Call("Read", {"file_path": at["Edit"]}),
            Call("Read", {"file_path": at["NotebookEdit"]}),
            Call("Write", {"file_path": at["Write"], "content": "x\n"}),
            Call("Edit", {"file_path": at["Edit"], "old_string": "shop", "new_string": "x"}),
            Call("NotebookEdit", {"notebook_path": at["NotebookEdit"], "cell_id": "one", "new_source": "2"}),
            Call("Bash", {"command": f"touch {at['Bash']}", "description": "d"}),
            Call("mcp__pen__write", {"path": at["MCP tool"], "text": "x"}),
            Call("Agent", delegated),
            Call("Write", {"file_path": at["subagent"], "content": "x\n"}),
        )
        return (*map(answer, calls), DONE, DONE)

    def outcomes(
        self, lines: list[dict[str, Any]], before: Mapping[Tool, bytes | None]
    ) -> dict[Tool, Outcome]:
        """Say what came of each try."""
        told = told_of(lines)
        return {tool: self._outcome(tool, before[tool], told.get(tool)) for tool in TOOLS}

    def _outcome(self, tool: Tool, before: bytes | None, told: str | None) -> Outcome:
        if told is None:
            return "not tried"
        if contents(self.place)[tool] != before:
            asked = any(str(self.place.shop / TARGETS[tool]) in one for one in self.asked)
            return "written after a yes" if asked else "written without a question"
        if "asbuilt: " in told:
            return "asbuilt"
        return "kernel" if any(word in told for word in _KERNEL) else "Claude Code"


def contents(place: Place) -> dict[Tool, bytes | None]:
    """Read every target."""
    files = {tool: place.shop / name for tool, name in TARGETS.items()}
    return {tool: file.read_bytes() if file.exists() else None for tool, file in files.items()}


def tried(place: Place, state: State, *, gate: bool, session: bool = False) -> dict[Tool, Outcome]:
    """Try all six in one conversation: with the plugin or without, the user's or one of `asbuilt session`."""
    trial = Trial(place, state)
    place.settle({**trial.settings, **({} if gate else {"disableAllHooks": True})})
    environment = {"IS_SANDBOX": "1"}
    if gate:
        typed(place, "init", "--claude")
    if session:
        typed(place, "config", "set", "sandbox.readable", str(place.room / PEN.name))
    starts = (sys.executable, "-m", "asbuilt", "session", "--plan", "--", _quiet(place)) if session else ()
    with Talk(place, *trial.arguments, answer=trial.answers, environment=environment, program=starts) as talk:
        trial.reach(talk)
        was = contents(place)
        talk.said.clear()
        place.model.play(SCRIPT, *trial.steps())
        talk.say("go on")
        return trial.outcomes(talk.said, was)


def typed(place: Place, *arguments: str) -> str:
    """Type a command of asbuilt, as the person whose conversation it is."""
    return subprocess.run(
        [sys.executable, "-m", "asbuilt", *arguments],
        cwd=place.shop,
        env={**place.lodging.environment, "HOME": str(place.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def _quiet(place: Place) -> str:
    """Make a `claude` that asks nobody but its model: the ring passes on no variable for that."""
    program = place.room / "claude"
    quiet = " ".join(f"{name}={value}" for name, value in QUIET["claude"].items())
    program.write_text(f'#!/bin/sh\n{quiet} exec {place.lodging.program} "$@"\n')
    program.chmod(0o755)
    return str(program)


def told_of(lines: list[dict[str, Any]]) -> dict[Tool, str]:
    """Find what the model was told of each try, the last time."""
    tools: dict[str, Tool] = {}
    told: dict[Tool, str] = {}
    for line in lines:
        parts = line["message"]["content"] if line.get("type") in ("assistant", "user") else []
        for part in parts if isinstance(parts, list) else []:
            if part.get("type") == "tool_use":
                tool = _tool(part["name"], is_delegated=bool(line.get("parent_tool_use_id")))
                tools |= {part["id"]: tool} if tool else {}
            elif part.get("type") == "tool_result" and part["tool_use_id"] in tools:
                told[tools[part["tool_use_id"]]] = str(part["content"])
    return told


def _tool(name: str, *, is_delegated: bool) -> Tool | None:
    if is_delegated:
        return "subagent" if name == "Write" else None
    found: Mapping[str, Tool] = {
        "Write": "Write",
        "Edit": "Edit",
        "NotebookEdit": "NotebookEdit",
        "Bash": "Bash",
        "mcp__pen__write": "MCP tool",
    }
    return found.get(name)
