"""Dispatch a conversation event to its handler, and render the status line.

Rule: every answer also deletes expired state, but never state of another live conversation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from asbuilt.hook import session_start, stop, user_prompt_submit
from asbuilt.hook.conversation_event import Answer, Call
from asbuilt.policy.plan_mode.state import is_typed
from asbuilt.session import messages
from asbuilt.session.authoring_binding import is_bound
from asbuilt.session.context.command_arguments import command_in, keep_typed
from asbuilt.session.context.reload_request import drop_stale
from asbuilt.session.conversation_lock import Locked
from asbuilt.session.conversations import clean

if TYPE_CHECKING:
    from asbuilt.hook.plan_mode_state import Held

_ANSWERS: Final[Mapping[str, Callable[[Call, Held], Answer | None]]] = {
    "UserPromptSubmit": user_prompt_submit.prompted,
    "Stop": stop.stopping,
    "SessionStart": session_start.started,
    "SessionEnd": session_start.ended,
    "PostToolUse": session_start.tool_used,
}

_BEGINS: Final = ("UserPromptSubmit", "SessionStart")


def answered(
    event: str, payload: Mapping[str, object], environ: Mapping[str, str], now: float, held: Held
) -> Answer | None:
    """Answer an event; None means no output."""
    call = Call(event, payload, environ, now)
    if not call.session:
        return None
    command = command_in(call.text("prompt")) if event == "UserPromptSubmit" else None
    if command is not None:
        keep_typed(call.folder, *command)
        call.keep(call.state())
    answer = _ANSWERS[event](call, held)
    if event in _BEGINS and is_bound(call.folder) and command is None:
        answer = _beside(call, answer)
    if call.is_known:
        with Locked(call.folder):
            drop_stale(call.folder, now=now)
    clean(environ, now=now, but=call.key)
    return answer


def _beside(call: Call, answer: Answer | None) -> Answer | None:
    """Add a notice that an authoring is pending."""
    # After a compaction, or when a background task ends, the agent is in the middle of its stage.
    if call.text("source") == "compact" or not is_typed(call.text("prompt")):
        return answer
    from asbuilt.hook.authoring import interrupted  # noqa: PLC0415 - few conversations author

    note = interrupted(call, is_new=call.text("source") == "clear")
    answer = answer or Answer()
    return answer._replace(context="\n".join(filter(None, [answer.context, note]))) if note else answer


def status_line(payload: Mapping[str, object], environ: Mapping[str, str], now: float) -> str:
    """Store the window size, which only the status line receives, and return the line to show."""
    call = Call("", payload, environ, now)
    context = call.inner("context_window")
    size, percent = context.get("context_window_size"), context.get("used_percentage")
    if not isinstance(size, int) or size <= 0:
        return ""
    state = call.state()
    if state.window != size:
        call.keep(state._replace(window=size))
    used = percent if isinstance(percent, int) else 0
    is_planning = os.path.lexists(f"{call.folder}/hold")
    return messages.line(state.plan, used, size, is_planning=is_planning) + "\n"
