"""Where the gate cannot read or cannot know, nothing is let through."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.session.hook_command import hook_argv
from tests.hook.calling import SILENT, WRITE, Said, denied

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hook.calling import Conversation

NO_ANSWER = Said(2, "", "asbuilt: the gate came to no answer, so nothing was done. Try it again.\n")
UNREADABLE = denied("this call cannot be parsed, so it is refused. Try it again.")


# Failing closed.


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"permission_mode": 7}',
        b'{"permission_mode": "default"',
        b'{"permission_mode": "default"}{}',
        b"[" * 100_000,
        b'{"permission_mode":"default","tool_input":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"permission_mode":"default","x":"' + b"a" * (65 << 20) + b'"}',
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_cannot_be_read_is_denied(talk: Conversation, data: bytes) -> None:
    assert talk.hook(data) == UNREADABLE


@pytest.mark.parametrize("missing", ["tool_name", "tool_input", "cwd"])
def test_a_held_call_with_a_part_missing_is_denied(talk: Conversation, missing: str) -> None:
    payload = talk.payload("Read", {"file_path": "/etc/motd"})
    del payload[missing]
    assert talk.hook(json.dumps(payload).encode()) == denied(
        "plan mode is on, and this call cannot be parsed."
    )


def _damage(talk: Conversation, kind: str) -> None:
    talk.folder.mkdir(parents=True)
    file = talk.folder / "hold"
    match kind:
        case "a folder":
            file.mkdir()
        case "a pipe":
            os.mkfifo(file)
        case "a link":
            file.symlink_to("/dev/null")
        case "a link to itself":
            file.symlink_to(file)
        case "of another version":
            file.write_text('{"v":2}')
        case "cut off":
            file.write_text('{"v":1,"by":"mo')
        case "empty":
            file.touch()
        case _:
            file.write_bytes(b"\xff" * (2 << 20))


@pytest.mark.parametrize(
    "kind",
    ["a folder", "a pipe", "a link", "a link to itself", "of another version", "cut off", "empty", "huge"],
)
def test_a_hold_that_cannot_be_read_holds_everything(talk: Conversation, kind: str) -> None:
    _damage(talk, kind)
    for tool in ("Read", "Write", "TodoWrite"):
        answer = json.loads(talk.call(tool, WRITE, mode="default").out)["hookSpecificOutput"]
        assert answer["permissionDecision"] == "deny"
        assert answer["permissionDecisionReason"].startswith(
            "asbuilt: the state of plan mode cannot be read ("
        )
        assert answer["permissionDecisionReason"].endswith(" The user runs: asbuilt mode exit")


def test_a_state_folder_that_is_none_is_no_way_round(talk: Conversation) -> None:
    talk.more["ASBUILT_HOME"] = "/dev/null/nowhere"
    assert talk.call("Write", WRITE).out.count('"deny"') == 1
    assert talk.call("Read", {"file_path": "/etc/motd"}).out.count('"deny"') == 1


def test_a_payload_that_never_ends_is_denied_by_its_own_alarm(talk: Conversation) -> None:
    with subprocess.Popen(
        hook_argv("PreToolUse"),
        env=talk.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"permission_mode": "default"')
        process.stdin.flush()
        code = process.wait(120)
        assert process.stdout is not None
        assert process.stderr is not None
        assert Said(code, process.stdout.read().decode(), process.stderr.read().decode()) == NO_ANSWER


def test_an_answer_that_nobody_takes_is_a_block(talk: Conversation) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    payload = json.dumps(talk.payload("Write", WRITE)).encode()
    done = subprocess.run(
        hook_argv("PreToolUse"),
        input=payload,
        env=talk.environ,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert Said(done.returncode, "", done.stderr.decode()) == NO_ANSWER


def test_an_installation_in_pieces_blocks_and_other_events_stay_silent(tmp_path: Path) -> None:
    script = tmp_path / "asbuilt" / "hook" / "main.py"
    script.parent.mkdir(parents=True)
    shutil.copy(hook_argv("PreToolUse")[3], script)
    for event, expected in (("PreToolUse", NO_ANSWER), ("Stop", SILENT), ("PermissionRequest", SILENT)):
        argv = [sys.executable, "-I", "-S", str(script), event]
        done = subprocess.run(argv, input=b"{}", capture_output=True, check=False)
        assert Said(done.returncode, done.stdout.decode(), done.stderr.decode()) == expected
