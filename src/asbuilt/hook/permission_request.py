"""Answer PermissionRequest for commands that the gate rewrote to run in the sandbox: allow without a prompt.

In plan mode Claude Code asks about every command it does not know, whatever PreToolUse answered.

Rule: allow nothing but a command that is exactly a `look` of this conversation.
"""

from __future__ import annotations

import os

from asbuilt.hook.pre_tool_use import payload_in
from asbuilt.policy.light_json import write
from asbuilt.session.conversation import folder_of, given, hold_in, key_of
from asbuilt.session.look_command import is_wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_ALLOWED = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}


def main() -> int:
    """Answer the payload on stdin."""
    if not os.environ.get("ASBUILT_ATTEMPT") and is_looking(os.environ, given()):
        os.write(1, write(_ALLOWED).encode())
    return 0


def is_looking(environ: Mapping[str, str], data: bytes) -> bool:
    """Return whether the request is for a `look` of this conversation while plan mode is on."""
    payload = payload_in(data)
    key = key_of(environ)
    if payload is None or not key:
        return False
    folder = folder_of(environ, key)
    given = payload.get("tool_input")
    command = given.get("command") if payload.get("tool_name") == "Bash" and isinstance(given, dict) else None
    return isinstance(command, str) and hold_in(folder) is not None and is_wrapped(folder, command)
