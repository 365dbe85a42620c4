"""Answer PreToolUse: allow, deny or rewrite a tool call while plan mode is on.

The answer depends only on the payload and the conversation's folder: no database, no settings, no daemon.

Rule: when plan mode is off the gate prints nothing; when anything is in doubt it denies.
"""

from __future__ import annotations

import os

from asbuilt.policy.light_json import read, write
from asbuilt.policy.plan_mode.state import COMMAND, ENTER, PLAN, HoldUnreadable, event_in
from asbuilt.session.conversation import GIVEN, folder_of, given, hold_in, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LATER = ("CronCreate", "ScheduleWakeup")
"""Tools that submit a prompt later, as if the user typed it."""
_STARTS = (
    "`{}` starts a phase: an agent works on it in a workspace of its own, and asbuilt proves it. Yes starts"
    " it. No starts nothing. With --dry-run the command shows what the phase promises."
)


def main() -> int:
    """Answer the payload on stdin."""
    if os.environ.get("ASBUILT_ATTEMPT"):
        return 0
    output = answer(os.environ, given()).encode()
    while output:
        output = output[os.write(1, output) :]
    return 0


def answer(environ: Mapping[str, str], data: bytes) -> str:
    """Return the output for a payload; empty leaves the decision to Claude Code."""
    try:
        return _answer(environ, data)
    except HoldUnreadable as error:
        return _denied(
            f"the state of plan mode cannot be read ({error}), so every call is refused."
            " The user runs: asbuilt mode exit"
        )
    except Exception as error:  # noqa: BLE001  the door that fails closed
        return _denied(
            f"the gate failed ({type(error).__name__}), so the call is refused. Next: asbuilt doctor"
        )


def _answer(environ: Mapping[str, str], data: bytes) -> str:
    payload = payload_in(data)
    if payload is None:
        return _denied("this call cannot be parsed, so it is refused. Try it again.")
    key = key_of(environ)
    folder = folder_of(environ, key) if key else ""
    hold = hold_in(folder) if folder else None
    tool, given, cwd = payload.get("tool_name"), payload.get("tool_input"), payload.get("cwd")
    is_on = hold is not None or payload["permission_mode"] == PLAN
    if tool == ENTER:
        from asbuilt.policy.plan_mode.entering import decision_for  # noqa: PLC0415  the door's dispatch

        decision = decision_for(is_subagent=bool(payload.get("agent_id")), is_on=is_on)
        if decision is not None:
            return _decided(*decision)
    if not is_on:
        if tool == "Bash" and (start := _phase_start(given)):
            return _decided("ask", _STARTS.format(start))
        if tool in _LATER and COMMAND in write(given):
            return _denied(f"{COMMAND} is the user's to type, not a schedule's.")
        return ""
    # Most calls are made with plan mode off, so this import is deferred.
    from asbuilt.hook.plan_mode_gate import UNREADABLE, Call, decided, kept  # noqa: PLC0415  the door's dispatch

    if not isinstance(tool, str) or not isinstance(given, dict) or not isinstance(cwd, str):
        return _denied(UNREADABLE)
    root = environ.get("CLAUDE_PROJECT_DIR") or cwd
    hold = kept(folder, hold, event_in("PreToolUse", payload), root=root)
    transcript = str(payload.get("transcript_path") or "")
    agent = str(payload.get("agent_id") or "")
    refused, changed = decided(
        Call(
            tool,
            given,
            cwd=cwd,
            environ=environ,
            folder=folder,
            transcript=transcript,
            hold=hold,
            agent=agent,
        )
    )
    if refused:
        return _denied(refused)
    return _allowed(changed) if changed else ""


def _phase_start(given: object) -> str:
    """Return the command in a call of the shell that starts a phase and has to be confirmed."""
    line = given.get("command") if isinstance(given, dict) else None
    if not isinstance(line, str) or "asbuilt" not in line:
        return ""
    from asbuilt.policy.start_confirmation import phase_start  # noqa: PLC0415  the door's dispatch

    return phase_start(line)


def payload_in(data: bytes) -> dict[str, object] | None:
    """Parse a payload that carries a permission mode; None if it cannot be parsed."""
    try:
        payload = read(data.decode()) if len(data) <= GIVEN else None
    except ValueError:
        return None
    if not isinstance(payload, dict) or not isinstance(payload.get("permission_mode"), str):
        return None
    return payload


def _denied(reason: str) -> str:
    return _decided("deny", reason)


def _decided(decision: str, reason: str) -> str:
    return _hook_output(permissionDecision=decision, permissionDecisionReason=f"asbuilt: {reason}")


def _allowed(changed: dict[str, object]) -> str:
    return _hook_output(
        permissionDecision="allow",
        permissionDecisionReason="asbuilt: it only reads, and runs in the read-only sandbox.",
        updatedInput=changed,
    )


def _hook_output(**fields: object) -> str:
    return write({"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}})
