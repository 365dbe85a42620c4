"""Call the installed hook as Claude Code does: its exact argv, the payload on stdin, the whole answer."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from asbuilt.session.conversation import folder_of, hold_in, keep_hold, key_of
from asbuilt.session.hook_command import hook_argv

if TYPE_CHECKING:
    from asbuilt.policy.plan_mode.state import Hold


class Said(NamedTuple):
    """All that a hook said."""

    code: int
    out: str
    err: str


SILENT = Said(0, "", "")
WRITE = {"file_path": "/etc/motd", "content": "x"}


@dataclass
class Conversation:
    """A conversation whose agent is this very process, with a repository and a home of its own."""

    room: Path
    more: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home, self.shop = self.room / "home", self.room / "shop"
        self.plan = self.home / ".claude" / "plans" / "make-a-plan-starry-cat.md"
        self.transcript = self.room / "transcript.jsonl"
        for folder in (self.plan.parent, self.shop / "src"):
            folder.mkdir(parents=True)
        (self.shop / "src" / "app.py").write_text("limit = 10\n")

    @property
    def environ(self) -> dict[str, str]:
        """What Claude Code gives to its hooks."""
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "CLAUDE_PID": str(os.getpid()),
            "CLAUDE_PROJECT_DIR": str(self.shop),
            **self.more,
        }

    @property
    def folder(self) -> Path:
        """Where asbuilt keeps what it knows of this conversation."""
        return Path(folder_of(self.environ, key_of(self.environ)))

    @property
    def state(self) -> Path:
        """Where asbuilt keeps what it knows of this user."""
        return self.folder.parent.parent

    @property
    def hold(self) -> Hold | None:
        """Whether planning is held."""
        return hold_in(str(self.folder))

    def held(self, hold: Hold) -> None:
        """Have planning held."""
        keep_hold(str(self.folder), hold)

    def given_a_plan(self) -> None:
        """Write the transcript in which Claude Code names the plan file."""
        told = {"type": "plan_mode", "isSubAgent": False, "planFilePath": str(self.plan)}
        self.transcript.write_text(json.dumps({"type": "attachment", "attachment": told}) + "\n")

    def payload(self, tool: str, given: object, *, mode: str = "plan", **more: object) -> dict[str, Any]:
        """Make a payload as Claude Code 2.1.325 does."""
        return {
            "session_id": "019d8449-c905-4065-b7a1-bc111569d157",
            "transcript_path": str(self.transcript),
            "cwd": str(self.shop),
            "prompt_id": "9dd8f077-8721-4cf9-b650-0e1328060a5c",
            "permission_mode": mode,
            "effort": {"level": "medium"},
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": "toolu_0001_0",
            **more,
        }

    def call(self, tool: str, given: object, *, mode: str = "plan", **more: object) -> Said:
        """Call a tool: what the gate says before it."""
        return self.hook(json.dumps(self.payload(tool, given, mode=mode, **more)).encode())

    def hook(self, data: bytes, *, event: str = "PreToolUse") -> Said:
        """Call the hook with any bytes."""
        done = subprocess.run(
            hook_argv(event), input=data, env=self.environ, cwd=self.shop, capture_output=True, check=False
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def denied(reason: str) -> Said:
    """Give the whole answer that denies for a reason."""
    return _said(permissionDecision="deny", permissionDecisionReason=f"asbuilt: {reason}")


def rewritten(given: dict[str, Any]) -> Said:
    """Give the whole answer that lets a command run in the ring."""
    return _said(
        permissionDecision="allow",
        permissionDecisionReason="asbuilt: it only reads, and runs in the read-only sandbox.",
        updatedInput=given,
    )


def _said(**fields: object) -> Said:
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}
    return Said(0, json.dumps(answer, separators=(",", ":")), "")
