"""Answer every event of a conversation but PreToolUse: keep the hold, remember the place, give plans back.

The one rule: these events only inform, so whatever goes wrong is silence, and one line in a log.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from asbuilt.hook import starts, turns
from asbuilt.hook.calls import Answer, Call
from asbuilt.policy.notation import read, write
from asbuilt.session import words
from asbuilt.session.conversation import state_home
from asbuilt.session.records import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from asbuilt.hook.calls import Held

LARGEST: Final = 64 << 20
STATUS_LINE: Final = "StatusLine"
"""No event of a hook: the name under which Claude Code's status line calls the same entry."""
_LOG: Final = "conversations.log"
_LOG_CAP: Final = 1 << 20
_ANSWERS: Final[Mapping[str, Callable[[Call, Held], Answer | None]]] = {
    "UserPromptSubmit": turns.prompted,
    "Stop": turns.stopping,
    "SessionStart": starts.started,
    "SessionEnd": starts.ended,
    "PostToolUse": starts.tool_used,
}
"""Every other event only changes the hold."""


def main(event: str) -> int:
    """Answer the payload on stdin; the exit code is always 0."""
    if os.environ.get("ASBUILT_ATTEMPT"):
        return 0
    try:
        respond = status_line if event == STATUS_LINE else answer
        said = respond(event, _stdin(), os.environ, time.time()).encode()
        while said:
            said = said[os.write(1, said) :]
    except Exception as error:  # noqa: BLE001  the door that fails silent
        _log(os.environ, event, error)
    return 0


def answer(event: str, data: bytes, environ: Mapping[str, str], now: float) -> str:
    """Give what is printed for an event; empty: nothing."""
    payload = read(data.decode()) if len(data) <= LARGEST else None
    if not isinstance(payload, dict):
        raise TypeError("the payload is no JSON object, or too large")
    call = Call(event, payload, environ, now)
    if not call.key or not call.session:
        return ""
    held = call.held()
    respond = _ANSWERS.get(event)
    said = respond(call, held) if respond is not None else None
    clean(environ, now=now, but=call.key)
    return _written(event, said) if said else ""


def status_line(event: str, data: bytes, environ: Mapping[str, str], now: float) -> str:
    """Keep what only the status line is told, the size of the window, and give a line to show."""
    payload = read(data.decode())
    call = Call(event, payload if isinstance(payload, dict) else {}, environ, now)
    context = call.inner("context_window")
    size, percent = context.get("context_window_size"), context.get("used_percentage")
    if not call.key or not isinstance(size, int) or size <= 0:
        return ""
    state = call.state()
    if state.window != size:
        call.keep(state._replace(window=size))
    used = percent if isinstance(percent, int) else 0
    is_planning = os.path.lexists(f"{call.folder}/hold")
    return words.line(state.plan, used, size, is_planning=is_planning) + "\n"


def _written(event: str, said: Answer) -> str:
    fields: dict[str, object] = {}
    if said.block:
        fields |= {"decision": "block", "reason": said.block}
    if said.context:
        fields["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": said.context}
    if said.message:
        fields["systemMessage"] = said.message
    return write(fields)


def _stdin() -> bytes:
    pieces = []
    size = 0
    while size <= LARGEST and (piece := os.read(0, 1 << 16)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _log(environ: Mapping[str, str], event: str, error: Exception) -> None:
    """Write one line; when even that fails there is nobody left to tell."""
    path = f"{state_home(environ)}/{_LOG}"
    told = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {event} {told}\n"
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
