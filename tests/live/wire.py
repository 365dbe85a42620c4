"""What a host and an agent said to each other, as one example of each kind of message. Pure.

The one rule: what differs from run to run (ids, times, paths, sums) is named, not kept; everything else is.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Message = dict[str, Any]
_LONG: Final = 160
_MANY: Final = 3
_NUMBER_VARIES: Final = re.compile(
    r"^id$|_(ms|usd|tokens|at|time|pid)$|Ms$|USD$|Tokens$|At$|^(pid|tokens|cost|amount|used)$"
)
_TEXT_VARIES: Final = re.compile(
    r"^(uuid|timestamp|signature)$|^(session|tool_?use|toolCall|request|prompt|call|turn|message)_?[iI]d$"
)
_LOOKS: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"\b(toolu|msg|call|ses|prt|req|resp)_[0-9A-Za-z_]+|[a-z_]+__[a-z_]+_\d{13}_\d+"), "<id>"),
    (re.compile(r"(?<=cc-socks/)\d+"), "<pid>"),
)


def examples(lines: Iterable[tuple[str, str]], places: Mapping[str, str]) -> dict[str, Message]:
    """Give the first message of each kind, under `<who>-<kind>`; `places` are paths and their names."""
    found: dict[str, Message] = {}
    methods: dict[tuple[str, object], str] = {}
    for who, line in lines:
        try:
            message = json.loads(line)
        except ValueError:
            message = {"not": "JSON"}
        if "method" in message and "id" in message:
            methods[who, message["id"]] = message["method"]
        asker = "agent" if who == "host" else "host"
        kind = kind_of(message, answers=methods.get((asker, message.get("id"))))
        found.setdefault(f"{who}-{kind}", normal(message, places))
    return found


def kind_of(message: Message, *, answers: str | None) -> str:
    """Name a message's kind, in stream-json and in JSON-RPC."""
    match message:
        case {"method": "session/update", "params": {"update": {"sessionUpdate": str(kind)}}}:
            return f"update-{kind}"
        case {"method": "session/new", "params": {"mcpServers": [_, *_]}}:
            return "session-new-with-tools"
        case {"method": str(method)}:
            return method.replace("/", "-")
        case {"error": _, "jsonrpc": _}:
            return f"error-to-{(answers or 'nothing').replace('/', '-')}"
        case {"result": _, "jsonrpc": _}:
            return f"answer-to-{(answers or 'nothing').replace('/', '-')}"
        case {"type": "control_request", "request": {"subtype": str(kind)}}:
            return f"control-{kind}"
        case {"type": "control_response", "response": {"response": {"behavior": str(kind)}}}:
            return f"control-answer-{kind}"
        case {"type": "control_response", "response": {"subtype": str(kind)}}:
            return f"control-answer-{kind}"
        case {"type": "assistant" | "user" as who, "message": {"content": [{"type": str(kind)}, *_]}}:
            return f"{who}-{kind}"
        case {"type": "result", "structured_output": dict()}:
            return "result-structured"
        case {"type": str(kind), "subtype": str(sub)}:
            return f"{kind}-{sub}"
        case {"type": str(kind)}:
            return kind
        case _:
            return "unknown"


def normal(value: Any, places: Mapping[str, str], name: str = "") -> Any:  # noqa: ANN401  JSON in, JSON out
    """Name what varies: by the name of its field, or by how it looks."""
    match value:
        case bool() | None:
            return value
        case int() | float():
            return 0 if _NUMBER_VARIES.search(name) or isinstance(value, float) else value
        case str():
            return f"<{name}>" if _TEXT_VARIES.search(name) else _normal_text(value, places)
        case list():
            kept = [normal(one, places, name) for one in value[:_MANY]]
            return [*kept, "<more>"] if len(value) > _MANY else kept
        case dict():
            return {_normal_text(key, places): normal(one, places, key) for key, one in value.items()}
        case _:
            raise TypeError(type(value))


def _normal_text(text: str, places: Mapping[str, str]) -> str:
    for path, placed in places.items():
        # As it is, and as agents name folders of theirs after it.
        text = text.replace(path, placed).replace(re.sub(r"[^0-9A-Za-z]", "-", path), placed)
    for pattern, word in _LOOKS:
        text = pattern.sub(word, text)
    return text if len(text) <= _LONG else f"{text[: _LONG // 2]}<more>"


def page(message: Message) -> str:
    """Write an example down, so that a difference is read by line."""
    return json.dumps(message, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
