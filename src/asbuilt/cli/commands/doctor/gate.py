"""Test the installed hook: run Claude Code's own command with a call that must be refused."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from asbuilt.cli.commands.doctor.facts import GateFacts
from asbuilt.cli.commands.init.members import NotAnObject
from asbuilt.cli.commands.init.registering import is_registered
from asbuilt.cli.commands.init.rendering import HOOKS
from asbuilt.cli.commands.init.seats import Seat, seat_of

if TYPE_CHECKING:
    from pathlib import Path


_TIMEOUT_S: Final = 20
_PASSED: Final = ("PATH", "HOME", "LANG", "LC_ALL")


def look_at_gate(environ: Mapping[str, str]) -> GateFacts:
    """Send the installed hook a write outside the plan, in plan mode."""
    seat = seat_of("claude", environ)
    command = _command(seat)
    if command is None:
        return GateFacts(installed=False)
    refused, took_ms, said = _tried(command, environ)
    return GateFacts(
        installed=True,
        enabled=_is_enabled(seat),
        version=str(_json(seat.folder / ".claude-plugin" / "plugin.json").get("version", "")),
        refused=refused,
        took_ms=took_ms,
        said=said,
    )


def _command(seat: Seat) -> str | None:
    try:
        return str(_json(seat.folder / HOOKS)["hooks"]["PreToolUse"][0]["hooks"][0]["command"])
    except (KeyError, IndexError, TypeError):
        return None


def _is_enabled(seat: Seat) -> bool:
    try:
        text = seat.settings.read_text(encoding="utf-8") if seat.settings else None
        return is_registered(text, str(seat.folder))
    except (OSError, UnicodeDecodeError, NotAnObject):
        return False


def _json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _tried(command: str, environ: Mapping[str, str]) -> tuple[bool, float, str]:
    with tempfile.TemporaryDirectory(prefix="asbuilt-doctor-") as scratch:
        payload = {
            "session_id": "asbuilt-doctor",
            "transcript_path": f"{scratch}/transcript.jsonl",
            "cwd": scratch,
            "permission_mode": "plan",
            "hook_event_name": "PreToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": f"{scratch}/outside-the-plan.txt", "content": "known bad"},
            "tool_use_id": "asbuilt-doctor",
        }
        given = {name: environ[name] for name in _PASSED if name in environ}
        began = time.perf_counter()
        try:
            ended = subprocess.run(  # noqa: S603 - our own command, as Claude Code would run it
                ["/bin/sh", "-c", command],
                input=json.dumps(payload).encode(),
                env={**given, "ASBUILT_HOME": f"{scratch}/state", "CLAUDE_PID": str(os.getpid())},
                cwd=scratch,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, 0.0, f"no answer in {_TIMEOUT_S} s"
        took_ms = (time.perf_counter() - began) * 1000
    said = (ended.stderr or ended.stdout).decode("utf-8", "replace").strip().splitlines()
    return _refuses(ended.returncode, ended.stdout), took_ms, said[-1] if said else f"exit {ended.returncode}"


def _refuses(code: int, said: bytes) -> bool:
    """Return whether Claude Code would block the call. Only these two forms block it."""
    if code == 2:
        return True
    try:
        output = json.loads(said)["hookSpecificOutput"]
        return code == 0 and (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "deny")
    except (ValueError, KeyError, TypeError):
        return False
