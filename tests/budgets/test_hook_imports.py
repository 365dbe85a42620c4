"""What the gate may load, by module name: every call of a tool in every conversation waits for it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.hook.calling import Conversation

from asbuilt.session.hook_command import hook_argv

if TYPE_CHECKING:
    from pathlib import Path

EITHER = {"_json", "_stat"}
"""Built in, or a file of their own, by who has built the interpreter."""
UNHELD = {
    "__future__",
    "_collections_abc",
    "asbuilt",
    "asbuilt.hook",
    "asbuilt.hook.pre_tool_use",
    "asbuilt.policy",
    "asbuilt.policy.plan_mode",
    "asbuilt.policy.plan_mode.state",
    "asbuilt.policy.light_json",
    "asbuilt.session",
    "asbuilt.session.conversation",
    "genericpath",
    "os",
    "posixpath",
    "stat",
}
HELD = UNHELD | {"asbuilt.hook.plan_mode_gate", "asbuilt.policy.plan_mode.tool_tables"}
COMMAND = HELD | {
    "asbuilt.hook.deny_rules",
    "asbuilt.policy.shell",
    "asbuilt.policy.shell.lexer",
    "asbuilt.policy.shell.working_folder",
    "asbuilt.policy.shell.programs",
    "asbuilt.policy.shell.programs.git",
    "asbuilt.policy.shell.programs.gitverbs",
    "asbuilt.policy.shell.programs.options",
    "asbuilt.policy.shell.programs.spec",
    "asbuilt.policy.shell.quote_word",
    "asbuilt.policy.plan_mode.secret_paths",
    "asbuilt.policy.shell.judge",
    "asbuilt.session.look_command",
}
ADVICE = "load it where it is needed (hook/plan_mode_gate.py), not at the top of what every call loads"


def _loaded(talk: Conversation, tool: str, given: dict[str, str], mode: str) -> set[str]:
    """Call the gate as the plugin does, and tell what it loads beyond an interpreter that does nothing."""
    python, *rest = hook_argv("PreToolUse")
    payload = json.dumps(talk.payload(tool, given, mode=mode))
    told = _told(talk, [python, "-v", *rest], payload)
    return told - _told(talk, [python, "-v", "-I", "-S", "-c", "pass"], "") - set(sys.builtin_module_names)


def _told(talk: Conversation, argv: list[str], payload: str) -> set[str]:
    done = subprocess.run(argv, input=payload, env=talk.environ, capture_output=True, text=True, check=True)
    return {line.split("'")[1] for line in done.stderr.splitlines() if line.startswith("import '")}


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path.resolve())


def test_where_planning_is_not_held_it_loads_next_to_nothing(talk: Conversation) -> None:
    assert _loaded(talk, "Bash", {"command": "git log"}, "default") - EITHER == UNHELD, ADVICE


def test_where_planning_is_held_it_loads_what_the_call_needs(talk: Conversation) -> None:
    _loaded(talk, "TodoWrite", {}, "plan")
    assert _loaded(talk, "TodoWrite", {}, "plan") - EITHER == HELD, ADVICE
    command = {"command": "git log --oneline | head -3"}
    _loaded(talk, "Bash", command, "plan")
    assert _loaded(talk, "Bash", command, "plan") - EITHER == COMMAND, ADVICE
