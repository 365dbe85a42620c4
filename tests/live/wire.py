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
_VARIES: Final = re.compile(
    r"(^|_)(id|ids|uuid|at|ms|usd|timestamp|time|duration|tokens|cost|pid|port|sha|digest|signature)$"
    r"|Id$|Ids$|Ms$|USD$|Tokens$|Timestamp$|At$"
)
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOMENT: Final = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_OWN_ID: Final = re.compile(r"\b(toolu|msg|call|ses|prt|req|resp)_[0-9A-Za-z_]+|[a-z_]+__[a-z_]+_\d{13}_\d+")


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
            return 0 if _VARIES.search(name) or isinstance(value, float) else value
        case str():
            if _VARIES.search(name):
                return f"<{name}>"
            for path, placed in places.items():
                value = value.replace(path, placed)
            for pattern, word in ((_UUID, "<uuid>"), (_MOMENT, "<time>"), (_OWN_ID, "<id>")):
                value = pattern.sub(word, value)
            return value if len(value) <= _LONG else f"{value[: _LONG // 2]}<more>"
        case list():
            kept = [normal(one, places, name) for one in value[:_MANY]]
            return [*kept, "<more>"] if len(value) > _MANY else kept
        case dict():
            return {key: normal(one, places, key) for key, one in sorted(value.items())}
        case _:
            raise TypeError(type(value))


def page(message: Message) -> str:
    """Write an example down, so that a difference is read by line."""
    return json.dumps(message, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
