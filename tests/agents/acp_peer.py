"""An agent that speaks ACP by a script: `acp_peer.py SCRIPT HEARD`. Standard modules only, run by its path.

The script has, for each method, what is done each time it is called: lines to say, questions to ask, then an
answer. What it was told and answered is written to HEARD, one JSON object a line.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def heard() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    with Path(sys.argv[2]).open("a", encoding="utf-8") as file:
        file.write(line)
    message: dict[str, Any] = json.loads(line)
    return message


def act(what: dict[str, Any]) -> None:
    match what:
        case {"update": update}:
            say({"method": "session/update", "params": {"sessionId": "s", "update": update}})
        case {"ask": params, "method": method}:
            say({"id": "q", "method": method, "params": params})
            heard()
        case {"noise": text}:
            sys.stdout.write(f"{text}\n")
        case {"exit": code}:
            sys.stdout.flush()
            os._exit(code)


def main() -> None:
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    while True:
        message = heard()
        if "id" in message:
            turns = script[message["method"]]
            turn = turns.pop(0) if len(turns) > 1 else turns[0]
            for one in turn.get("acts", ()):
                act(one)
            say({"id": message["id"], **{name: turn[name] for name in ("result", "error") if name in turn}})


if __name__ == "__main__":
    main()
