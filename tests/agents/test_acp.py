"""The ACP adapter with an agent that is scripted: what it asks, goes on with, and takes for an end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from asbuilt.agents.acp.adapter import Acp
from asbuilt.agents.contract import Conversed, Noted, Said, Used
from asbuilt.agents.prompt import prompt_for, resume_prompt
from asbuilt.agents.sandbox.launch import probe
from asbuilt.events.options import AgentProgram
from tests.agents.conftest import Machine
from tests.contracts.adapter import Listener, seated

if TYPE_CHECKING:
    from asbuilt.agents.contract import Turn
    from asbuilt.ports import Brief

HELLO = {"result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}}
DONE = {"result": {"stopReason": "end_turn"}}
BROKEN_OFF = {"result": {"stopReason": "cancelled"}}
SPEAKS = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "made it"}}}
OPTIONS = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "abort", "kind": "reject_once"}]
ASKS = {
    "method": "session/request_permission",
    "ask": {
        "toolCall": {"toolCallId": "t1", "kind": "edit", "locations": [{"path": "a"}, {"path": "b"}]},
        "options": OPTIONS,
    },
}


@dataclass
class Peer:
    """One agent on one machine, and what it heard."""

    machine: Machine
    script: dict[str, list[dict[str, Any]]]
    listener: Listener = field(default_factory=Listener)

    def __post_init__(self) -> None:
        # In the workspace, which is all of this machine that it sees.
        peer, script, self.heard_file = (
            self.machine.workspace / name for name in ("peer.py", "script.json", "heard.jsonl")
        )
        new = [{"result": {"sessionId": "s1"}}]
        script.write_text(json.dumps({"initialize": [HELLO], "session/new": new, **self.script}))
        peer.write_text(Path(__file__).with_name("acp_peer.py").read_text(encoding="utf-8"))
        command = (sys.executable, "-I", "-S", str(peer), str(script), str(self.heard_file))
        program = AgentProgram(kind="codex", command=command)
        self.brief: Brief = self.machine.playing("", agent="codex", program=program)

    def driven(self) -> Turn:
        async def drive() -> Turn:
            seat = seated(self.machine, self.brief)
            try:
                return await Acp(seat).drive(self.brief, self.listener, self.listener.emit)
            finally:
                await seat.end()

        return asyncio.run(drive())

    @property
    def heard(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.heard_file.read_text().splitlines()]

    @property
    def prompts(self) -> list[str]:
        told = [one["params"] for one in self.heard if one.get("method") == "session/prompt"]
        return ["\n".join(block["text"] for block in one["prompt"]) for one in told]

    @property
    def answers(self) -> list[Any]:
        return [one.get("result", one.get("error")) for one in self.heard if "method" not in one]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(root=tmp_path / "m", level=probe().for_work)


@pytest.mark.parametrize(
    ("name", "behind"),
    [
        ("npm/bin/codex-acp", "npm/lib/node_modules/codex-acp/main.py"),
        ("app/node_modules/.bin/codex-acp", "app/node_modules/codex-acp/main.py"),
        ("tools/codex-acp", "tools/codex-acp"),
    ],
)
def test_an_agent_that_is_installed_below_tmp_starts_and_cannot_change_its_installation(
    name: str, behind: str, machine: Machine
) -> None:
    peer = Peer(machine, {"session/prompt": [{"acts": [SPEAKS], **DONE}]})
    program, file = machine.root / name, machine.root / behind
    for folder in (program.parent, file.parent):
        folder.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_name("acp_peer.py").read_text(encoding="utf-8")
    told = "open(__file__ + '.changed', 'w')"
    changes = f"import contextlib\nwith contextlib.suppress(OSError):\n    {told}\n"
    file.write_text(f"#!/usr/bin/env python3\n{source.replace('import json', f'{changes}import json', 1)}")
    file.chmod(0o755)
    if program != file:
        program.symlink_to(os.path.relpath(file, program.parent))
    command = (str(program), *peer.brief.program.command[4:])
    peer.brief = replace(peer.brief, program=AgentProgram(kind="codex", command=command))
    turn = peer.driven()
    assert (turn.ending, turn.says) == ("done", "made it")
    assert not file.with_name(f"{file.name}.changed").exists()


def test_a_turn_is_introduced_prompted_and_done(machine: Machine) -> None:
    peer = Peer(machine, {"session/prompt": [{"acts": [{"noise": "hello"}, SPEAKS], **DONE}]})
    turn = peer.driven()
    assert (turn.ending, turn.says, turn.verdict) == ("done", "made it", None)
    assert peer.listener.events == [
        Conversed(session="s1"),
        Said(text="made it"),
        Used(),
        Noted(text="1 lines were not understood."),
    ]
    first, second, _ = peer.heard
    assert first["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }
    assert second["params"] == {"cwd": str(machine.workspace), "mcpServers": []}
    assert peer.prompts[0].endswith(prompt_for(peer.brief))


@pytest.mark.parametrize(("allowed", "option"), [(True, "yes"), (False, "abort")])
def test_each_file_of_a_question_is_the_gates_to_answer(
    machine: Machine, *, allowed: bool, option: str
) -> None:
    peer = Peer(machine, {"session/prompt": [{"acts": [ASKS, SPEAKS], **DONE}]}, Listener(allowed=allowed))
    assert peer.driven().ending == "done"
    assert [(call.kind, call.path) for call in peer.listener.calls] == [("edit", "a"), ("edit", "b")]
    assert peer.answers == [{"outcome": {"outcome": "selected", "optionId": option}}]


def test_what_we_do_not_offer_is_refused(machine: Machine) -> None:
    writes = {"method": "fs/write_text_file", "ask": {"path": "/etc/passwd", "content": "x"}}
    peer = Peer(machine, {"session/prompt": [{"acts": [writes], **DONE}]})
    assert peer.driven().ending == "done"
    assert peer.answers == [{"code": -32601, "message": "fs/write_text_file is not offered"}]
    assert peer.listener.calls == []


def test_a_turn_that_a_refusal_broke_off_goes_on_with_the_reason(machine: Machine) -> None:
    turns = [{"acts": [ASKS], **BROKEN_OFF}, {"acts": [SPEAKS], **DONE}]
    peer = Peer(machine, {"session/prompt": turns}, Listener(allowed=False))
    assert (peer.driven().ending, len(peer.prompts)) == ("done", 2)
    assert "That was refused: as the test says as the test says" in peer.prompts[1]


def test_a_turn_that_ends_at_a_refusal_without_another_word_goes_on_too(machine: Machine) -> None:
    refused = {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed"}}
    turns = [{"acts": [ASKS, refused], **DONE}, {"acts": [ASKS, refused, SPEAKS], **DONE}]
    peer = Peer(machine, {"session/prompt": turns}, Listener(allowed=False))
    assert (peer.driven().ending, len(peer.prompts)) == ("done", 2)


@pytest.mark.parametrize("end", [BROKEN_OFF, DONE])
def test_a_turn_that_is_broken_off_again_and_again_is_not_done(machine: Machine, end: dict[str, Any]) -> None:
    stubborn = Peer(machine, {"session/prompt": [{"acts": [ASKS], **end}]}, Listener(allowed=False))
    assert (stubborn.driven().ending, len(stubborn.prompts)) == ("failed", 9)


def test_a_turn_that_is_broken_off_by_nobody_is_not_done(machine: Machine) -> None:
    peer = Peer(machine, {"session/prompt": [BROKEN_OFF]})
    assert (peer.driven().ending, len(peer.prompts)) == ("failed", 1)


def test_whoever_ends_in_the_middle_has_crashed_and_what_it_used_is_unknown(machine: Machine) -> None:
    peer = Peer(machine, {"session/prompt": [{"acts": [SPEAKS, {"exit": 3}]}]})
    turn = peer.driven()
    assert (turn.ending, turn.cause, turn.says) == ("crashed", "crash", "made it")
    assert turn.reason == "The agent ended with exit code 3 in the middle."
    assert Used() in peer.listener.events


def test_whoever_cannot_sign_in_says_so(machine: Machine) -> None:
    error = {"error": {"code": -32000, "message": "Authentication required"}}
    turn = Peer(machine, {"session/new": [error]}).driven()
    assert (turn.ending, turn.cause) == ("limited", "auth")


def test_a_conversation_is_taken_up_again_and_what_is_replayed_is_not_said_again(machine: Machine) -> None:
    loaded = {"acts": [SPEAKS], "result": {}}
    peer = Peer(machine, {"session/load": [loaded], "session/prompt": [DONE]})
    folder = machine.attempts.folder(peer.brief.attempt)
    folder.mkdir(parents=True)
    (folder / "session").write_text("s0")
    turn = peer.driven()
    assert (turn.ending, turn.says, peer.prompts) == ("done", "", [resume_prompt()])
    assert peer.listener.events == [Used(), Conversed(session="s0"), Used()]


def test_a_conversation_that_is_lost_is_begun_anew_and_told_so(machine: Machine) -> None:
    lost = {"error": {"code": -32603, "message": "No such session"}}
    peer = Peer(machine, {"session/load": [lost], "session/prompt": [{"acts": [SPEAKS], **DONE}]})
    folder = machine.attempts.folder(peer.brief.attempt)
    folder.mkdir(parents=True)
    (folder / "session").write_text("s0")
    assert peer.driven().ending == "done"
    assert peer.listener.events[:4] == [
        Used(),
        Noted(text="It refused to take its conversation up again: No such session"),
        Noted(text="Its conversation cannot be resumed; a new one starts."),
        Conversed(session="s1"),
    ]
    assert "An earlier start of this work was cut off" in peer.prompts[0]
