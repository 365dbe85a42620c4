"""`asbuilt session -- AGENT` and `asbuilt gate command`: what is really started, and that it answers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.session.conversation import key_of
from asbuilt.session.hook_command import hook_argv
from tests.hook.calling import Conversation, denied

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path.resolve())


def asbuilt(talk: Conversation, *arguments: str, **more: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", *arguments],
        env={**talk.environ, **more},
        cwd=talk.shop,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_an_agent_takes_our_place_and_is_named_as_its_hooks_would_name_it(talk: Conversation) -> None:
    """The same pid, so its exit code, its signals and its terminal are the shell's own affair."""
    script = 'echo "$ASBUILT_CONVERSATION $ASBUILT_HOME $1"; cut -d" " -f22 < /proc/$$/stat; echo $$; exit 3'
    code, said = asbuilt(talk, "session", "--", "sh", "-c", script, "sh", "--plan", OTHER="kept")
    named, started, pid = said.splitlines()
    assert (code, named) == (3, f"{pid}-{started} {talk.home}/.local/state/asbuilt --plan")
    assert not talk.state.exists()


def test_what_it_is_called_by_hand_is_what_a_hook_calls_it(talk: Conversation) -> None:
    script = "echo $ASBUILT_CONVERSATION; echo $$; sleep 60"
    with subprocess.Popen(
        [sys.executable, "-m", "asbuilt", "session", "--", "sh", "-c", script],
        env=talk.environ,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        named, pid = process.stdout.readline().strip(), process.stdout.readline().strip()
        try:
            assert named == key_of({"CLAUDE_PID": pid})
        finally:
            process.kill()


def test_gate_command_prints_what_the_plugin_runs_and_that_answers(talk: Conversation) -> None:
    code, said = asbuilt(talk, "gate", "command")
    assert (code, shlex.split(said)) == (0, list(hook_argv("PreToolUse")))
    data = json.dumps(talk.payload("Write", {"file_path": "/etc/motd"}))
    done = subprocess.run(
        shlex.split(said), input=data, env=talk.environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == denied(
        "plan mode is read-only and Write changes /etc/motd. To propose the change, write it into the plan."
    )


def test_gate_command_for_a_script_has_every_event_and_the_rule(talk: Conversation) -> None:
    code, said = asbuilt(talk, "gate", "command", "--json")
    assert (code, json.loads(said)) == (
        0,
        {
            "schema": "asbuilt.gate.command/1",
            "argv": list(hook_argv("PreToolUse")),
            "events": {event: list(hook_argv(event)) for event in ("PreToolUse", "PermissionRequest")},
            "rule": f"Bash({talk.home}/.local/state/asbuilt/look *)",
        },
    )
