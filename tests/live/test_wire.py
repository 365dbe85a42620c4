"""Messages are told apart by kind, and what varies is named. Without an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.live import tee
from tests.live.wire import examples, kind_of, normal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"type": "system", "subtype": "init"}, "system-init"),
        ({"type": "assistant", "message": {"content": [{"type": "tool_use"}]}}, "assistant-tool_use"),
        ({"type": "user", "message": {"role": "user", "content": "go"}}, "user"),
        ({"type": "control_request", "request": {"subtype": "can_use_tool"}}, "control-can_use_tool"),
        (
            {
                "type": "control_response",
                "response": {"subtype": "success", "response": {"behavior": "deny"}},
            },
            "control-answer-deny",
        ),
        ({"jsonrpc": "2.0", "id": 1, "method": "session/new"}, "session-new"),
        (
            {"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call"}}},
            "update-tool_call",
        ),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, "answer-to-session-new"),
        ({"jsonrpc": "2.0", "id": 1, "error": {}}, "error-to-session-new"),
        ({"method": "session/new", "params": {"mcpServers": [{}]}}, "session-new-with-tools"),
        ({"type": "result", "subtype": "success", "structured_output": {}}, "result-structured"),
        ({"not": "JSON"}, "unknown"),
    ],
)
def test_a_message_has_a_kind_in_both_protocols(message: dict[str, object], kind: str) -> None:
    assert kind_of(message, answers="session/new") == kind


def test_what_varies_is_named_and_everything_else_is_kept() -> None:
    message = {
        "session_id": "c5bf",
        "uuid": "x",
        "duration_ms": 727,
        "total_cost_usd": 0.05,
        "num_turns": 3,
        "is_error": False,
        "tools": ["Bash", "Edit", "Read", "Write"],
        "text": f"/a/room/made.txt at 2026-01-02T03:04:05.678Z by toolu_0001_2 {'7' * 200}",
        "inner": {"/a/room/b": "01234567-89ab-cdef-0123-456789abcdef", "optionId": "allow"},
        "folder": "projects/-a-room-shop",
    }
    assert normal(message, {"/a/room": "<room>"}) == {
        "session_id": "<session_id>",
        "uuid": "<uuid>",
        "duration_ms": 0,
        "total_cost_usd": 0,
        "num_turns": 3,
        "is_error": False,
        "tools": ["Bash", "Edit", "Read", "<more>"],
        "text": f"<room>/made.txt at <time> by <id> {'7' * 46}<more>",
        "inner": {"<room>/b": "<uuid>", "optionId": "allow"},
        "folder": "projects/<room>-shop",
    }


def test_an_answer_is_named_by_what_its_asker_asked_and_the_first_of_a_kind_is_kept() -> None:
    lines = [
        ("host", '{"jsonrpc": "2.0", "id": 1, "method": "initialize"}'),
        ("agent", '{"jsonrpc": "2.0", "id": 1, "method": "session/request_permission"}'),
        ("agent", '{"jsonrpc": "2.0", "id": 1, "result": {"first": true}}'),
        ("host", '{"jsonrpc": "2.0", "id": 1, "result": {}}'),
        ("host", '{"jsonrpc": "2.0", "id": 2, "method": "initialize"}'),
        ("agent", '{"jsonrpc": "2.0", "id": 2, "result": {"first": false}}'),
        ("agent", "noise"),
    ]
    found = examples(lines, {})
    assert sorted(found) == [
        "agent-answer-to-initialize",
        "agent-session-request_permission",
        "agent-unknown",
        "host-answer-to-session-request_permission",
        "host-initialize",
    ]
    assert found["agent-answer-to-initialize"]["result"] == {"first": True}


def test_whoever_listens_changes_nothing_and_keeps_everything(tmp_path: Path) -> None:
    agent = "import sys\nfor line in sys.stdin: print('heard', line, end='', flush=True)\nsys.exit(3)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", tee.__file__, sys.executable, "-c", agent],
        input=b"one\ntwo\xff\n",
        capture_output=True,
        env={"HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8:surrogateescape"},
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, b"heard one\nheard two\xff\n")
    wire = [json.loads(line) for line in (tmp_path / tee.WIRE).read_text().splitlines()]
    assert [line for who, line in wire if who == "host"] == ["one\n", "two\ufffd\n"]
    assert [line for who, line in wire if who == "agent"] == ["heard one\n", "heard two\ufffd\n"]
