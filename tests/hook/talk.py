"""A conversation as its hooks see it: a process that lives, a folder, a transcript, and events in turn.

The one rule: every event is a process of its own, started as Claude Code starts it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

import asbuilt.hook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

MAIN = Path(asbuilt.hook.__file__).parent / "main.py"
HALF, FULL = 104_000, 122_000
"""Tokens in a context, of which it is worth a warning, and a stop."""
PLAN = """\
# Rate limiting

## Progress Tracker

| Phase | Status | Commit |
|---|---|---|
| 1 — Bucket | ✅ Done | 4f1c9a2 |
| 2a — Redis store | 🟡 In progress | |
| 3 — Middleware | ⬚ | |

## Phase 1 — Bucket

- [x] the bucket

## Phase 2a — Redis store

- [x] connect
- [ ] expiry
- [ ] two workers share one bucket

## Phase 3 — Middleware

- [ ] answer 429
"""
FINISHED = PLAN.replace("[ ]", "[x]").replace("🟡 In progress", "✅ Done").replace("⬚", "✅ Done")


class Talk:
    """One conversation: `with Talk(room) as talk: talk.hears("Stop")`."""

    def __init__(self, room: Path, **environ: str) -> None:
        self.shop = room / "shop"
        self.state = room / "state"
        self.home = room / "home"
        if not self.shop.exists():
            (self.shop / ".git").mkdir(parents=True)
            (self.shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            (self.shop / "plans").mkdir()
            self.home.mkdir()
        self.session = str(uuid.uuid4())
        self.room = room
        self.agent = subprocess.Popen(["sleep", "600"])  # noqa: S607
        self.environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home),
            "ASBUILT_HOME": str(self.state),
            "CLAUDE_PID": str(self.agent.pid),
            "CLAUDE_PROJECT_DIR": str(self.shop),
            **environ,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.die()

    def die(self) -> None:
        """End the agent's process; what is remembered of it stays."""
        self.agent.kill()
        self.agent.wait()

    @property
    def transcript(self) -> Path:
        """Where the session writes itself down."""
        return self.room / f"{self.session}.jsonl"

    @property
    def folder(self) -> Path:
        """What asbuilt keeps of the conversation."""
        (found,) = (self.state / "conversations").glob(f"{self.agent.pid}-*")
        return found

    def plan(self, name: str = "rate-limit", text: str = PLAN) -> Path:
        """Put a plan on the shelf of the repository."""
        file = self.shop / "plans" / f"{name}.md"
        file.write_text(text, encoding="utf-8")
        return file

    def says(self, tokens: int, text: str = "All done.", **more: object) -> None:
        """Let the agent answer in its transcript, with so many tokens in its context."""
        usage = {"input_tokens": 10, "cache_read_input_tokens": tokens - 10, "cache_creation_input_tokens": 0}
        message = {"model": "fake", "content": [{"type": "text", "text": text}], "usage": usage}
        entry = {"type": "assistant", "isSidechain": False, "message": message, **more}
        with self.transcript.open("a") as lines:
            lines.write(json.dumps(entry) + "\n")

    def raw(self, event: str, data: bytes) -> subprocess.CompletedProcess[bytes]:
        """Call the hook with any bytes."""
        return subprocess.run(
            [sys.executable, "-I", "-S", str(MAIN), event],
            input=data,
            env=self.environ,
            cwd=self.shop,
            capture_output=True,
            timeout=120,
            check=False,
        )

    def payload(self, event: str, **fields: object) -> dict[str, Any]:
        """Give an event's payload, as Claude Code 2.1.325 writes it."""
        common = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.shop),
            "hook_event_name": event,
        }
        return {**common, **fields}

    def hears(self, event: str, **fields: object) -> dict[str, Any]:
        """Call the hook; what it answers, and nothing when it is silent."""
        ended = self.raw(event, json.dumps(self.payload(event, **fields)).encode())
        assert (ended.returncode, ended.stderr) == (0, b"")
        # How long ago something was depends on the machine, not on what is told.
        told = re.sub(rb"\b\d+s ago", b"0s ago", ended.stdout)
        answer: dict[str, Any] = json.loads(told) if told else {}
        return answer

    def context(self, event: str, **fields: object) -> str:
        """Call the hook; what it tells the agent."""
        answer = self.hears(event, **fields)
        told = answer.get("hookSpecificOutput", {"hookEventName": event, "additionalContext": ""})
        assert told["hookEventName"] == event
        text: str = told["additionalContext"]
        return text

    # What Claude Code does.

    def approve(self, plan: Path) -> str:
        """Plan, propose, and get the yes."""
        self.prompt("make a plan", mode="plan")
        given = {"plan": "# P", "planFilePath": str(plan)}
        call = {"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1"}
        self.hears("PreToolUse", permission_mode="plan", tool_input=given, **call)
        response = {"plan": "# P", "isAgent": False, "filePath": str(plan)}
        return self.context(
            "PostToolUse", permission_mode="default", tool_input={}, tool_response=response, **call
        )

    def prompt(self, text: str, mode: str = "default") -> str:
        """Type something."""
        return self.context("UserPromptSubmit", permission_mode=mode, prompt=text)

    def stop(self, *, active: bool = False, text: str = "All done.") -> str:
        """End a turn; why it may not."""
        answer = self.hears(
            "Stop", permission_mode="default", stop_hook_active=active, last_assistant_message=text
        )
        assert answer.get("decision", "block") == "block"
        reason: str = answer.get("reason", "")
        return reason

    def clear(self) -> dict[str, Any]:
        """Type /clear: another session in the same process."""
        self.hears("SessionEnd", reason="clear")
        self.session = str(uuid.uuid4())
        return self.hears("SessionStart", source="clear")

    def cleared(self) -> str:
        """Type /clear; what the agent is told."""
        told = self.clear().get("hookSpecificOutput", {})
        text: str = told.get("additionalContext", "")
        return text

    def log(self) -> str:
        """What went wrong in silence."""
        file = self.state / "conversations.log"
        return file.read_text() if file.exists() else ""


def files_in(folder: Path) -> list[str]:
    """List what is in a folder, but for its lock."""
    return sorted(file.name for file in folder.iterdir() if file.name != "lock")


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with Talk(tmp_path) as made:
        yield made
        assert made.log() == ""
