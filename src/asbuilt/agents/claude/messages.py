"""Messages of Claude Code's stream-json control protocol, in both directions. Pure.

Rule: every line parses to one of a closed set of messages; an unknown line is reported by its type and never
raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

LINE_CAP: Final = 32 << 20
"""A line can contain a whole file as a tool's result."""


class Begun(NamedTuple):
    """The process is up and reports its tools."""

    session: str
    version: str
    tools: tuple[str, ...]
    model: str = ""


class Hooked(NamedTuple):
    """A tool call is about to happen (PreToolUse hook)."""

    request: str
    call: str
    cwd: str


class Asked(NamedTuple):
    """A permission request for a tool call."""

    request: str
    call: str
    tool: str
    input: dict[str, Any]


class Unasked(NamedTuple):
    """A request that we do not support."""

    request: str
    subtype: str


class Refused(NamedTuple):
    """A request of ours failed."""

    reason: str


class Spoke(NamedTuple):
    """A block of the model's answer, or Claude Code's own message about an error."""

    texts: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]
    """Tools, each with its main argument."""
    error: str = ""
    """Claude Code's name of the error, if the message is its own."""


class Limited(NamedTuple):
    """State of a usage limit."""

    rejected: bool
    resets_at: int | None


class Noticed(NamedTuple):
    """A notice to record: a retry, a compaction."""

    text: str


class Tokens(NamedTuple):
    """Tokens used of a model."""

    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: tuple[int, ...]) -> Tokens:  # type: ignore[override]  # a sum, not a longer tuple
        """Add element by element."""
        return Tokens(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Ended(NamedTuple):
    """The turn has ended."""

    subtype: str
    is_error: bool
    text: str
    stop: str
    status: int | None
    """HTTP status of the API error that ended the turn."""
    error: str
    """Name of that error, for example of a usage limit or a failed connection."""
    cost_usd: float | None
    used: Tokens
    models: tuple[tuple[str, Tokens, float], ...]
    """Usage and cost of each model."""
    structured: object


class Known(NamedTuple):
    """A known message that needs no action."""

    kind: str


class Unknown(NamedTuple):
    """A line that is none of the above."""

    kind: str


Message = Begun | Hooked | Asked | Unasked | Refused | Spoke | Limited | Noticed | Ended | Known | Unknown

_SILENT: Final = ("user", "control_cancel_request", "keep_alive", "stream_event", "tool_progress")


def message_in(line: bytes) -> Message:
    """Parse a line."""
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return Unknown("no JSON")
    match message:
        case {
            "type": "control_request",
            "request_id": str(request),
            "request": {"subtype": str(subtype), **rest},
        }:
            return _asked(request, subtype, rest)
        case {"type": "control_response", "response": {"subtype": "error", **rest}}:
            return Refused(str(rest.get("error", ""))[:500])
        case {"type": "control_response"}:
            return Known("control_response")
        case {"type": "system", "subtype": str(subtype), **rest}:
            return _system(subtype, rest)
        case {"type": "assistant", "message": {"content": list(content)}, **rest}:
            return _spoke(content, str(rest.get("error") or ""))
        case {"type": "rate_limit_event", "rate_limit_info": dict(info)}:
            resets = info.get("resetsAt")
            return Limited(info.get("status") == "rejected", resets if isinstance(resets, int) else None)
        case {"type": "result", "subtype": str(subtype), **rest}:
            return _ended(subtype, rest)
        case {"type": str(kind)}:
            return Known(kind) if kind in _SILENT else Unknown(kind)
        case _:
            return Unknown("no message")


def _asked(request: str, subtype: str, rest: Mapping[Any, Any]) -> Message:
    match subtype, rest:
        case "hook_callback", _:
            # Answer it even if malformed: a hook that gets an error lets its call through.
            arguments = rest.get("input")
            cwd = arguments.get("cwd") if isinstance(arguments, dict) else None
            return Hooked(request, str(rest.get("tool_use_id") or ""), cwd if isinstance(cwd, str) else "")
        case "can_use_tool", {"tool_name": str(tool), "input": dict(given)}:
            return Asked(request, str(rest.get("tool_use_id", "")), tool, given)
        case _:
            return Unasked(request, subtype)


def _system(subtype: str, rest: Mapping[Any, Any]) -> Message:
    match subtype, rest:
        case "init", {"session_id": str(session)}:
            tools = tuple(tool for tool in _list(rest.get("tools")) if isinstance(tool, str))
            return Begun(session, str(rest.get("claude_code_version", "")), tools, str(rest.get("model", "")))
        case "api_retry", _:
            return Noticed(
                f"The API answered {rest.get('error_status')} ({rest.get('error')}); "
                f"retry {rest.get('attempt')} of {rest.get('max_retries')}."
            )
        case "informational" | "compact_boundary", _:
            return Noticed(str(rest.get("content") or subtype)[:500])
        case _:
            return Known(f"system/{subtype}")


def _spoke(content: list[Any], error: str) -> Spoke:
    texts, calls = [], []
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "tool_use", "name": str(tool), "input": dict(given)}:
                calls.append((tool, _about(given)))
            case _:
                pass
    return Spoke(tuple(texts), tuple(calls), error)


def _about(given: Mapping[str, Any]) -> str:
    for name in ("file_path", "notebook_path", "command", "pattern", "path", "description", "url"):
        if isinstance(found := given.get(name), str):
            return found[:1_000]
    return ""


def _ended(subtype: str, rest: Mapping[Any, Any]) -> Ended:
    cost, status, usage = rest.get("total_cost_usd"), rest.get("api_error_status"), rest.get("usage")
    models = rest.get("modelUsage")
    return Ended(
        subtype=subtype,
        # A result that does not report success is an error.
        is_error=rest.get("is_error") is not False,
        text=str(rest.get("result") or "\n".join(map(str, _list(rest.get("errors"))))),
        stop=str(rest.get("stop_reason") or ""),
        status=status if isinstance(status, int) else None,
        error=str(rest.get("api_error") or ""),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
        used=tokens_in(usage if isinstance(usage, dict) else {}),
        models=tuple(
            (name, tokens_in(model, _MODEL), float(model.get("costUSD") or 0.0))
            for name, model in (models if isinstance(models, dict) else {}).items()
            if isinstance(model, dict)
        ),
        structured=rest.get("structured_output"),
    )


_API: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_MODEL: Final = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens")


def tokens_in(usage: Mapping[str, Any], names: tuple[str, ...] = _API) -> Tokens:
    """Parse the usage of an answer, by the names of the API, or of a model, by those of Claude Code."""
    return Tokens(*(_count(usage.get(name)) for name in names))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


# Messages to Claude Code.

HELLO: Final = {
    "type": "control_request",
    "request_id": "hello",
    "request": {
        "subtype": "initialize",
        "hooks": {"PreToolUse": [{"matcher": "", "hookCallbackIds": ["every call"]}]},
    },
}
"""Initializes the session, with a hook before every tool call."""
INTERRUPT: Final = {"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}}
"""Stops the current turn; its result reports the cost."""
ASK_US: Final = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}
"""Answer to a hook: a permission request follows, whatever the agent's own rules allow."""


def prompt(text: str) -> dict[str, Any]:
    """Send a user message to the model."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def answer(request: str, response: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request."""
    body = {"subtype": "success", "request_id": request, "response": response}
    return {"type": "control_response", "response": body}


def not_offered(request: str, subtype: str) -> dict[str, Any]:
    """Answer an unsupported request."""
    error = {"subtype": "error", "request_id": request, "error": f"{subtype} is not offered"}
    return {"type": "control_response", "response": error}
