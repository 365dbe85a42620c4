"""Inputs for the hook that nobody sends, and whether an answer to one of them lets through what it must not.

The one rule: while planning is held an answer is a well-formed deny, a block, or what the policy allows.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from asbuilt.hook.pre_tool_use import answer
from asbuilt.policy.plan_mode.state import Hold
from asbuilt.policy.plan_mode.tool_tables import QUIET, READS, REFUSED, STARTS, WRITES
from asbuilt.policy.shell.judge import verdict
from asbuilt.session.conversation import folder_of, keep_hold, key_of
from asbuilt.session.look_command import is_wrapped
from asbuilt.session.wildcard_expansion import names_in
from tests.attack.gate.mutants import made, seeded
from tests.attack.gate.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attack.gate.mutants import Draw
    from tests.attack.gate.stage import Stage

COMMANDS = [row.cmd for row in read_rows()]
BLOCK = 2
_TOOLS = (
    *QUIET,
    *READS,
    *WRITES,
    *STARTS,
    *REFUSED,
    *["Bash"] * 20,
    "mcp__shop__sell",
    "Tomorrow",
    "",
    "bash",
    "WRITE",
)
_LISTING = ("Glob", "LS")
"""They show names and no content."""
_MODES = ("plan", "default", "acceptEdits", "bypassPermissions", "auto", "dontAsk", "", "PLAN")
_SECRET = re.compile(r"(^|/)(\.env|\.ssh(/|$)|id_rsa|\.netrc|[^/]*\.pem)")
_VALUES: tuple[object, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        10**40,
        "",
        "x",
        "plan",
        "Read",
        "README.md",
        "../x",
        "~",
        "\0",
        "\ud800",
        "\u202e",
    ),
    *([], {}, [[]], {"a": {}}, ["Read"], {"file_path": "README.md"}, "A" * 5000),
)
_BYTES = (
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\0",
    b"\n",
    b"null",
    b"{",
    b"}",
    b'"',
    b",",
    b"NaN",
    b"[" * 3000,
    b"\xc3",
    b"\\u",
)


class Talk(NamedTuple):
    """A conversation on a stage, with planning held and one plan of its own."""

    stage: Stage

    @property
    def plan(self) -> Path:
        """The file that may be written to."""
        return self.stage.home / ".claude" / "plans" / "own.md"

    @property
    def environ(self) -> dict[str, str]:
        """What Claude Code gives to its hooks."""
        environ = {**self.stage.environment, "CLAUDE_PID": str(os.getpid())}
        return {**environ, "CLAUDE_PROJECT_DIR": str(self.stage.repository)}

    @property
    def folder(self) -> str:
        """Where asbuilt keeps what it knows of it."""
        return folder_of(self.environ, key_of(self.environ))

    def hold(self) -> None:
        """Have planning held."""
        self.plan.parent.mkdir(parents=True, exist_ok=True)
        keep_hold(self.folder, Hold(root=str(self.stage.repository), plans=(str(self.plan),)))

    def is_held(self) -> bool:
        """Tell whether planning is still held."""
        return Path(self.folder, "hold").exists()


class Opened(NamedTuple):
    """An input that was let through."""

    number: int
    data: bytes
    said: str


def opened(talk: Talk, size: int, first: int) -> list[Opened]:
    """Ask the gate's own function about so many inputs, and give those that got through."""
    found = []
    for number in range(first, first + size):
        data = input_of(talk, number)
        said = answer(talk.environ, data)
        if not is_closed(talk, data, 0, said) or not talk.is_held():
            found.append(Opened(number, data[:2000], said))
            talk.hold()
    return found


def input_of(talk: Talk, number: int) -> bytes:
    """Make one input: raw bytes, a payload with a part that is wrong, or a right one for a random call."""
    draw = seeded(number)
    kinds: tuple[Callable[[Talk, Draw], bytes], ...] = (
        _raw,
        _cut,
        _bitten,
        _mistyped,
        _mistyped,
        _nested,
        _right,
        _right,
    )
    return kinds[draw(len(kinds))](talk, draw)


def is_closed(talk: Talk, data: bytes, code: int, said: str) -> bool:
    """Tell whether an answer holds what it has to; `code` is the exit code of the hook."""
    if code == BLOCK:
        return said == ""
    if code != 0:
        return False
    if said == "":
        return _may_pass(talk, data)
    try:
        told = json.loads(said)["hookSpecificOutput"]
        decision, reason = told["permissionDecision"], told["permissionDecisionReason"]
    except (ValueError, KeyError, TypeError):
        return False
    if decision == "deny":
        return isinstance(reason, str) and reason.startswith("asbuilt: ") and "updatedInput" not in told
    return decision == "allow" and _may_run(talk, data, told.get("updatedInput"))


def _may_pass(talk: Talk, data: bytes) -> bool:
    """Tell whether the gate may say nothing: the tool reads, talks, or writes the plan."""
    payload = _payload(data)
    if payload is None:
        return False
    tool, given = payload["tool_name"], payload["tool_input"]
    named = given.get({**READS, **WRITES}.get(tool, ""), "")
    if tool in WRITES:
        return isinstance(named, str) and os.path.realpath(named) == os.path.realpath(talk.plan)
    if tool in _LISTING:
        return True
    if tool in READS:
        path = os.path.join(payload["cwd"], named) if isinstance(named, str) else ""  # noqa: PTH118
        return not _SECRET.search(os.path.realpath(path))
    if tool == "Bash":
        return str(given.get("command", "")).split()[:1] == ["asbuilt"] and _is_allowed(talk, payload)
    return tool in QUIET or (tool in STARTS and "isolation" not in given)


def _may_run(talk: Talk, data: bytes, changed: object) -> bool:
    """Tell whether a command may run, and runs only as a look."""
    payload = _payload(data)
    if payload is None or payload["tool_name"] != "Bash" or not isinstance(changed, dict):
        return False
    same = {**payload["tool_input"], "command": changed.get("command")} == changed
    return same and is_wrapped(str(talk.folder), str(changed["command"])) and _is_allowed(talk, payload)


def _is_allowed(talk: Talk, payload: dict[str, Any]) -> bool:
    command, home = payload["tool_input"].get("command"), str(talk.stage.home)
    root = str(talk.stage.repository)
    real, there = os.path.realpath, os.path.lexists
    return isinstance(command, str) and (
        verdict(command, cwd=payload["cwd"], home=home, root=root, resolve=real, exists=there, names=names_in)
        is None
    )


def _payload(data: bytes) -> dict[str, Any] | None:
    try:
        payload = json.loads(data.decode())
    except (ValueError, RecursionError):
        return None
    texts = ("permission_mode", "tool_name", "cwd")
    if not isinstance(payload, dict) or not all(isinstance(payload.get(name), str) for name in texts):
        return None
    return payload if isinstance(payload.get("tool_input"), dict) else None


def _raw(_: Talk, draw: Draw) -> bytes:
    return bytes(draw(256) for _ in range(draw(200)))


def _cut(talk: Talk, draw: Draw) -> bytes:
    data = _right(talk, draw)
    return data[: draw(len(data))]


def _bitten(talk: Talk, draw: Draw) -> bytes:
    data = _right(talk, draw)
    for _ in range(1 + draw(3)):
        at = draw(len(data) + 1)
        piece = _BYTES[draw(len(_BYTES))] if draw(2) else bytes([draw(256)])
        data = data[:at] + piece + data[at + draw(3) :]
    return data


def _mistyped(talk: Talk, draw: Draw) -> bytes:
    payload = _call(talk, draw)
    fields = [*payload, "agent_id", "agent_type", "source", "extra"]
    for _ in range(1 + draw(2)):
        value = _VALUES[draw(len(_VALUES))]
        inner = payload.get("tool_input")
        if isinstance(inner, dict) and inner and draw(2):
            inner[list(inner)[draw(len(inner))]] = value
        elif draw(4) == 0:
            payload.pop(fields[draw(len(fields))], None)
        else:
            payload[fields[draw(len(fields))]] = value
    return json.dumps(payload).encode()


def _nested(talk: Talk, draw: Draw) -> bytes:
    deep: int = 10 ** (1 + draw(4))
    start, end = (("[", "]"), ('{"a":', "}"))[draw(2)]
    inner = start * deep + ("1" if start != "[" else "") + end * (deep if draw(2) else 0)
    if draw(2):
        return inner.encode()
    text: str = json.dumps({**_call(talk, draw), "tool_input": "HERE"})
    return text.replace('"HERE"', inner).encode()


def _right(talk: Talk, draw: Draw) -> bytes:
    text: str = json.dumps(_call(talk, draw), ensure_ascii=bool(draw(2)))
    return text.encode("utf-8", "surrogatepass")


def _call(talk: Talk, draw: Draw) -> dict[str, Any]:
    tool = _TOOLS[draw(len(_TOOLS))]
    root = talk.stage.repository
    paths = (
        *(
            f"{root}/README.md",
            "README.md",
            f"{root}/.env",
            ".env",
            "/etc/passwd",
            f"{root}/new.py",
            str(talk.plan),
        ),
        *(
            f"{talk.plan}/",
            f"{talk.plan.parent}/x.md",
            f"{talk.plan}/../own.md",
            f"{talk.folder}/hold",
            "~/.ssh/id_rsa",
        ),
        *(str(talk.plan).upper(), f"{talk.plan}\0", f" {talk.plan}", "/proc/self/environ", "", ".", "/"),
    )
    path = paths[draw(len(paths))]
    given: dict[str, Any] = {
        "command": made(draw, COMMANDS),
        **dict.fromkeys(("file_path", "notebook_path", "path"), path),
        "content": "x",
    }
    return {
        "session_id": "019d8449-c905-4065-b7a1-bc111569d157",
        "transcript_path": paths[draw(len(paths))],
        "cwd": str(root) if draw(4) else path,
        "permission_mode": _MODES[draw(len(_MODES))],
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "toolu_1",
    }
