"""An MCP server with one tool, which writes a file. Standard library only: agents start it as a program.

The one rule: it says what came of a write, in the system's own words.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}


def _answer(method: str, given: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            version = given.get("protocolVersion", "2025-06-18")
            about = {"name": "pen", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": [{"name": "write", "description": "Write a file", "inputSchema": _SCHEMA}]}
        case "tools/call":
            return _written(given["arguments"])
        case _:
            return None


def _written(given: dict[str, str]) -> dict[str, Any]:
    try:
        Path(given["path"]).write_text(given["text"])
    except OSError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": "written"}]}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        said = _answer(asked["method"], asked.get("params") or {})
        reply = {"error": {"code": -32601, "message": "unknown"}} if said is None else {"result": said}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}), flush=True)
