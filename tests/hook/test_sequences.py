"""Events in any order: no reason stops a context twice, a reload is given once, and nobody is trapped."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.hook.conversation import answer
from tests.hook.talk import FINISHED, PLAN

NOW = 1_800_000_000.0
EVENTS = (
    "prompt", "plan prompt", "own question", "stop", "stop again", "propose", "approve", "clear",
    "lost clear", "compact", "end", "half", "full", "finish", "reopen", "hour",
)  # fmt: skip

_KEEPING = {"propose", "approve", "prompt", "own question", "plan prompt", "stop"}
"""After these a reload may be kept; a plan that is proposed is approved by the /clear behind it."""


class Conversation:
    """One conversation in this process, with a clock of its own."""

    def __init__(self, room: Path) -> None:
        self.room, self.now, self.sessions = room, NOW, 0
        (room / "plans").mkdir()
        (room / ".git").mkdir()
        (room / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.plan = room / "plans" / "rate-limit.md"
        self.plan.write_text(PLAN, encoding="utf-8")
        self.environ = {
            "HOME": str(room / "home"),
            "ASBUILT_HOME": str(room / "state"),
            "CLAUDE_PID": str(os.getpid()),
        }

    @property
    def transcript(self) -> Path:
        return self.room / f"{self.sessions}.jsonl"

    def hears(self, event: str, **fields: object) -> dict[str, object]:
        payload = {
            "session_id": str(self.sessions),
            "transcript_path": str(self.transcript),
            "cwd": str(self.room),
            "permission_mode": "default",
            **fields,
        }
        told = answer(event, json.dumps(payload).encode(), self.environ, self.now)
        found: dict[str, object] = json.loads(told) if told else {}
        return found

    def uses(self, tokens: int) -> None:
        usage = {"input_tokens": tokens}
        message = {"model": "m", "content": [{"type": "text", "text": "ok"}], "usage": usage}
        with self.transcript.open("a") as file:
            file.write(json.dumps({"type": "assistant", "message": message}) + "\n")

    def does(self, what: str) -> dict[str, object]:
        self.now += 1
        given = {"planFilePath": str(self.plan)}
        match what:
            case "prompt":
                return self.hears("UserPromptSubmit", prompt="go on")
            case "own question":
                return self.hears("UserPromptSubmit", prompt="what is it?")
            case "plan prompt":
                return self.hears("UserPromptSubmit", prompt="plan", permission_mode="plan")
            case "stop":
                return self.hears("Stop", last_assistant_message="")
            case "stop again":
                return self.hears("Stop", last_assistant_message="", stop_hook_active=True)
            case "propose":
                exits = {"tool_name": "ExitPlanMode", "tool_input": given, "permission_mode": "plan"}
                return self.hears("PreToolUse", **exits)
            case "approve":
                response = {"filePath": str(self.plan)}
                return self.hears("PostToolUse", tool_name="ExitPlanMode", tool_response=response)
            case "clear" | "lost clear":
                self.sessions += 1
                return self.hears("SessionStart", source="clear") if what == "clear" else {}
            case "compact":
                self.hears("PreCompact")
                with self.transcript.open("a") as file:
                    file.write('{"type": "system", "subtype": "compact_boundary"}\n')
                return self.hears("SessionStart", source="compact")
            case "end":
                return self.hears("SessionEnd", reason="other")
            case "half":
                self.uses(110_000)
            case "full":
                self.uses(150_000)
            case "finish":
                self.plan.write_text(FINISHED, encoding="utf-8")
            case "reopen":
                self.plan.write_text(PLAN, encoding="utf-8")
            case "hour":
                self.now += 4_000
        return {}


@given(st.lists(st.sampled_from(EVENTS), max_size=25))
def test_in_any_order_of_events_the_laws_hold(sequence: list[str]) -> None:
    # Every file is synced; a disk would take longer for that than everything else.
    memory = Path("/dev/shm")  # noqa: S108  no name in it is foretold
    room = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    try:
        talk = Conversation(room)
        blocks, is_kept, is_finished, is_sent_back = 0, False, False, False
        for what in sequence:
            is_finished = {"finish": True, "reopen": False}.get(what, is_finished)
            told = talk.does(what)
            words = json.dumps(told)
            if what in {"clear", "lost clear", "compact"}:
                blocks = 0
            if "prompt" in what or what in {"own question", "propose"}:
                is_sent_back = False
            if told.get("decision") == "block":
                assert what == "stop"
                assert not is_sent_back, sequence
                is_sent_back = "asbuilt: plan mode is on" in words
                blocks += not is_sent_back
            assert blocks <= 1, sequence
            if "ACTION REQUIRED" in words:
                assert is_kept, sequence
                assert not is_finished, sequence
                assert what in {"clear", "prompt"}, sequence
                is_kept = False
            is_kept = is_kept or what in _KEEPING
        # Whatever happened, a turn ends when it is asked to for the second time.
        talk.does("full")
        talk.does("stop")
        assert talk.does("stop") == {}
    finally:
        shutil.rmtree(room)
