"""Answer every event but PreToolUse and PermissionRequest: update the hold, store state, restore plans.

Rule: these events only inform, so an error prints nothing and adds one line to a log.
"""

from __future__ import annotations

import os
import time

from asbuilt.hook.plan_mode_state import held
from asbuilt.policy.light_json import read, write
from asbuilt.session.conversation import GIVEN, given, key_of, state_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.hook.conversation_event import Answer

STATUS_LINE = "StatusLine"
"""Not a hook event: the name under which Claude Code's status line calls this entry point."""
_ANSWERED = ("UserPromptSubmit", "Stop", "SessionStart", "SessionEnd", "PostToolUse")
"""Events that can have an answer. Other events only change the hold."""
_LOG = "conversations.log"
_LOG_CAP = 1 << 20


def main(event: str) -> int:
    """Answer the payload on stdin. The exit code is always 0."""
    if os.environ.get("ASBUILT_ATTEMPT"):
        return 0
    try:
        output = answer(event, given(), os.environ, time.time()).encode()
        while output:
            output = output[os.write(1, output) :]
    except Exception as error:  # noqa: BLE001  the door that fails silent
        _log(os.environ, event, error)
    return 0


def answer(event: str, data: bytes, environ: Mapping[str, str], now: float) -> str:
    """Return the output for an event; empty for none."""
    payload = read(data.decode()) if len(data) <= GIVEN else None
    if not isinstance(payload, dict):
        raise TypeError("the payload is no JSON object, or too large")
    if not key_of(environ):
        return ""
    if event == STATUS_LINE:
        from asbuilt.hook.dispatch import status_line  # noqa: PLC0415  the door's dispatch

        return status_line(payload, environ, now)
    before_and_after = held(event, payload, environ, now)
    if event not in _ANSWERED:
        return ""
    from asbuilt.hook.dispatch import answered  # noqa: PLC0415  the same: most events need none of it

    reply = answered(event, payload, environ, now, before_and_after)
    return _written(event, reply) if reply else ""


def _written(event: str, reply: Answer) -> str:
    fields: dict[str, object] = {}
    if reply.block:
        fields |= {"decision": "block", "reason": reply.block}
    if reply.context:
        fields["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": reply.context}
    if reply.message:
        fields["systemMessage"] = reply.message
    return write(fields)


def _log(environ: Mapping[str, str], event: str, error: Exception) -> None:
    """Append one line to the log; ignore a failure to write it."""
    path = f"{state_home(environ)}/{_LOG}"
    problem = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {event} {problem}\n"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            if os.fstat(file).st_size > _LOG_CAP:
                os.ftruncate(file, 0)
            os.write(file, line.encode())
        finally:
            os.close(file)
    except OSError:
        return
