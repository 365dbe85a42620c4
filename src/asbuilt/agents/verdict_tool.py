"""The MCP server through which an agent submits its verdict: `verdict_tool.py OUT INTENT ITEMS`.

Standard library only; run by path, inside the sandbox. The reader of its output does not trust it.

Rule: an incomplete or malformed verdict is refused with a reason, and nothing of it is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

SERVER: Final = "asbuilt"
TOOL: Final = "submit_verdict"
FILE: Final = "verdict.json"
_PROTOCOL: Final = "2025-06-18"
_NO_METHOD, _NO_JSON = -32601, -32700
_CITED: Final = 50
_SIZE: Final = 1 << 20
"""The limit of the reader, `attempt_folder.verdict_in`."""
_CITES: Final = (
    f"Each piece of evidence, at most {_CITED} an item, is one of "
    '{"check": TEXT}, {"file": PATH, "line": NUMBER}, {"removed": PATH} or {"test": NAME}.'
)
_EVIDENCE: Final = {
    "type": "object",
    "properties": {
        "check": {"type": "string", "description": "a check that asbuilt ran, by its text"},
        "file": {"type": "string", "description": "a file of the workspace"},
        "line": {"type": "integer", "description": "a line of that file, from 1"},
        "removed": {"type": "string", "description": "a file that the phase has taken away"},
        "test": {"type": "string", "description": "a test that passed, as its runner names it"},
    },
}
_ITEM: Final = {
    "type": "object",
    "properties": {
        "item": {"type": "integer", "description": "the item's number, from 1"},
        "outcome": {"type": "string", "enum": ["PASS", "FAIL"]},
        "why": {"type": "string", "description": "what was looked at and what it shows"},
        "evidence": {"type": "array", "items": _EVIDENCE, "description": _CITES},
    },
    "required": ["item", "outcome", "why"],
}

_ANSWERS: Final = {
    "type": "array",
    "description": "the answer to every question of the task, with the line that decides it",
    "items": {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "found": {"type": "boolean"},
            "why": {"type": "string"},
            "file": {"type": "string"},
            "line": {"type": "integer"},
        },
        "required": ["question", "found", "why"],
    },
}


class Desk:
    """Answers MCP requests and writes the verdict."""

    def __init__(self, out: Path, intent: str, items: int) -> None:
        self._out = out
        self._intent = intent
        self._items = items

    def answer(self, method: object, params: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a request; None for an unknown method."""
        match method:
            case "initialize":
                return {
                    "protocolVersion": params.get("protocolVersion", _PROTOCOL),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": SERVER, "version": "1"},
                }
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [self._tool()]}
            case "tools/call":
                return self._called(params.get("name"), params.get("arguments"))
            case _:
                return None

    def _tool(self) -> dict[str, Any]:
        rows = {"type": "array", "items": _ITEM, "minItems": self._items, "maxItems": self._items}
        return {
            "name": TOOL,
            "description": f"Leave your verdict: one row for each of the {self._items} items. A PASS needs "
            "evidence; anything you could not see for yourself is a FAIL. The last verdict counts.",
            "inputSchema": {
                "type": "object",
                "properties": {"items": rows, "answers": _ANSWERS},
                "required": ["items"],
            },
            # Read-only as far as the workspace goes, so that agents do not ask for permission.
            "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
        }

    def _called(self, name: object, arguments: object) -> dict[str, Any]:
        given = arguments if isinstance(arguments, dict) else {}
        if wrong := self._refused(name, given.get("items"), given.get("answers", [])):
            text = f"Not taken: {wrong}. Nothing was recorded; call {TOOL} again with every item."
            return {"content": [{"type": "text", "text": text}], "isError": True}
        return {"content": [{"type": "text", "text": f"Recorded: {self._items} items."}]}

    def _refused(self, name: object, rows: object, answers: object) -> str | None:
        if name != TOOL:
            return f"there is no tool {name!r}, only {TOOL}"
        if wrong := why_refused(rows, self._items):
            return wrong
        letter = json.dumps({"intent": self._intent, "items": rows, "answers": answers})
        if len(letter) > _SIZE:
            return f"it is longer than {_SIZE} bytes"
        temporary = self._out / f".{FILE}"
        try:
            temporary.write_text(letter, encoding="ascii")
            temporary.replace(self._out / FILE)
        except OSError as error:
            return f"it cannot be written: {error.strerror}"
        return None


def why_refused(rows: object, items: int) -> str | None:
    """Return why `rows` is not a verdict on all `items`; None when it is."""
    if not isinstance(rows, list):
        return "`items` is not a list"
    seen: set[int] = set()
    for number, row in enumerate(rows, 1):
        match row:
            case {"item": int(item), "outcome": "PASS" | "FAIL" as outcome, "why": str(why), **rest}:
                if isinstance(item, bool) or not 1 <= item <= items:
                    return f"row {number} names item {item}, and there are {items}"
                if item in seen:
                    return f"item {item} has two rows"
                if not why.strip():
                    return f"item {item} has no reason in `why`"
                cited = rest.get("evidence", [])
                if not isinstance(cited, list) or len(cited) > _CITED or not all(map(_is_citation, cited)):
                    return f"item {item} cites what cannot be looked up. {_CITES.rstrip('.')}"
                if outcome == "PASS" and not cited:
                    return f"item {item} is called PASS without evidence. {_CITES.rstrip('.')}"
                seen.add(item)
            case _:
                return f"row {number} is not an object with item (a number), outcome (PASS or FAIL) and why"
    missing = [str(item) for item in range(1, items + 1) if item not in seen]
    return f"nothing is said of item {', '.join(missing)}" if missing else None


def _is_citation(row: object) -> bool:
    match row:
        case {"file": str(), "line": int(line)}:
            return not isinstance(line, bool)
        case {"check": str()} | {"removed": str()} | {"test": str()}:
            return True
        case {"file": str(), **rest}:
            return rest.get("line") is None
        case _:
            return False


def reply_to(desk: Desk, line: str) -> dict[str, Any] | None:
    """Return the reply to a line; None for a notification."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {"jsonrpc": "2.0", "id": None, "error": {"code": _NO_JSON, "message": "not JSON"}}
    if not isinstance(message, dict) or message.get("id") is None:
        return None
    params = message.get("params")
    result = desk.answer(message.get("method"), params if isinstance(params, dict) else {})
    outcome = (
        {"error": {"code": _NO_METHOD, "message": "no such method"}} if result is None else {"result": result}
    )
    return {"jsonrpc": "2.0", "id": message["id"], **outcome}


def main() -> int:
    """Reply to requests line by line, until stdin ends."""
    desk = Desk(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    for line in sys.stdin:
        reply = reply_to(desk, line) if line.strip() else None
        if reply is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
