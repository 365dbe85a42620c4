"""What Claude Code says over its stream-json control protocol, line by line, and what we say to it. Pure.

The one rule: a line is one of a closed set of messages; one that is not understood is told by its kind, and
never ends anything.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

LINE_CAP: Final = 32 << 20
"""A line can hold a whole file as a tool's result."""
_HOOK: Final = "every call"


class Begun(NamedTuple):
    """It is up, and says what it has."""

    session: str
    version: str
    tools: tuple[str, ...]
    model: str = ""


class Hooked(NamedTuple):
    """It is about to call a tool, and asks whether its own rules may decide."""

    request: str
    call: str
    cwd: str


class Asked(NamedTuple):
    """It asks whether it may call a tool."""

    request: str
    call: str
    tool: str
    input: dict[str, Any]


class Unasked(NamedTuple):
    """It asks for something that we do not do."""

    request: str
    subtype: str


class Refused(NamedTuple):
    """It cannot do what we asked it for."""

    reason: str


class Spoke(NamedTuple):
    """One block of an answer of its model, or words of its own about an error."""

    texts: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]
    """Tools and what they are about."""
    error: str = ""
    """Its own name for what went wrong, when the words are its own."""


class Limited(NamedTuple):
    """Where a usage limit stands."""

    rejected: bool
    resets_at: int | None
    """In seconds since 1970."""


class Noticed(NamedTuple):
    """Something to be noted and no more: a retry, a compaction."""

    text: str


class Tokens(NamedTuple):
    """What was used of one model."""

    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: tuple[int, ...]) -> Tokens:  # type: ignore[override]  # a sum, not a longer tuple
        """Add up what was used."""
        return Tokens(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Ended(NamedTuple):
    """Its turn is over."""

    subtype: str
    is_error: bool
    text: str
    stop: str
    """Why the model stopped."""
    status: int | None
    """What the API answered with, when that is why it ended."""
    error: str
    """A name for that: a usage limit has one, and a connection that failed."""
    cost_usd: float | None
    """Of the whole conversation so far."""
    used: Tokens
    """Of this process."""
    models: tuple[tuple[str, Tokens, float], ...]
    """What was used of each model, and what that costs."""
    structured: object


class Known(NamedTuple):
    """A message that says nothing to us: it was understood, and is left alone."""

    kind: str


class Unknown(NamedTuple):
    """A line that is none of these."""

    kind: str


Message = Begun | Hooked | Asked | Unasked | Refused | Spoke | Limited | Noticed | Ended | Known | Unknown

_SILENT: Final = ("user", "control_cancel_request", "keep_alive", "stream_event", "tool_progress")


def message_in(line: bytes) -> Message:
    """Read one line."""
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
            # However it looks, it is answered: a hook that hears an error lets its call through.
            told = rest.get("input")
            cwd = told.get("cwd") if isinstance(told, dict) else None
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
        # What does not say that it went well did not.
        is_error=rest.get("is_error") is not False,
        text=str(rest.get("result") or "\n".join(map(str, _list(rest.get("errors"))))),
        stop=str(rest.get("stop_reason") or ""),
        status=status if isinstance(status, int) else None,
        error=str(rest.get("api_error") or ""),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
        used=tokens_in(usage if isinstance(usage, dict) else {}),
        models=tuple(
            (name, _of_model(one), float(one.get("costUSD") or 0.0))
            for name, one in (models if isinstance(models, dict) else {}).items()
            if isinstance(one, dict)
        ),
        structured=rest.get("structured_output"),
    )


def tokens_in(usage: Mapping[str, Any]) -> Tokens:
    """Read what the API says that an answer took."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return Tokens(*(_count(usage.get(name)) for name in names))


def _of_model(usage: Mapping[str, Any]) -> Tokens:
    names = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens")
    return Tokens(*(_count(usage.get(name)) for name in names))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


# What we say to it.


def hello() -> dict[str, Any]:
    """Introduce ourselves: we want to hear of every call before it is made."""
    hooks = {"PreToolUse": [{"matcher": "", "hookCallbackIds": [_HOOK]}]}
    return {
        "type": "control_request",
        "request_id": "hello",
        "request": {"subtype": "initialize", "hooks": hooks},
    }


def prompt(text: str) -> dict[str, Any]:
    """Say something to its model."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def interrupt() -> dict[str, Any]:
    """Ask it to stop where it is and to tell what it cost."""
    return {"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}}


def ask_us(request: str) -> dict[str, Any]:
    """Say to a hook that its own rules decide nothing: it asks us, whatever they allow."""
    output = {"hookEventName": "PreToolUse", "permissionDecision": "ask"}
    return _success(request, {"hookSpecificOutput": output})


def allowed(request: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Let a call be made as it was asked for."""
    return _success(request, {"behavior": "allow", "updatedInput": dict(given)})


def denied(request: str, reason: str) -> dict[str, Any]:
    """Refuse a call."""
    return _success(request, {"behavior": "deny", "message": reason})


def not_done(request: str, subtype: str) -> dict[str, Any]:
    """Say that we do no such thing."""
    error = {"subtype": "error", "request_id": request, "error": f"{subtype} is not offered"}
    return {"type": "control_response", "response": error}


def _success(request: str, response: Mapping[str, Any]) -> dict[str, Any]:
    told = {"subtype": "success", "request_id": request, "response": dict(response)}
    return {"type": "control_response", "response": told}
