"""What the events of a conversation may load: some come with every call of a tool, all of them in any one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.hook.talk import Talk

from asbuilt.session.hook_command import hook_argv

if TYPE_CHECKING:
    from pathlib import Path

EITHER = {"_json", "_stat", "fcntl", "time"}
"""Built in, or a file of their own, by who has built the interpreter."""
HOLD_ONLY = {
    "__future__", "_collections_abc", "asbuilt", "asbuilt.hook", "asbuilt.hook.conversation",
    "asbuilt.hook.plan_mode_state", "asbuilt.policy", "asbuilt.policy.plan_mode",
    "asbuilt.policy.plan_mode.state", "asbuilt.policy.light_json",
    "asbuilt.session", "asbuilt.session.conversation", "asbuilt.session.conversation_lock",
    "genericpath", "os",
    "posixpath", "stat",
}  # fmt: skip
HEAVY = {
    "json",
    "dataclasses",
    "pathlib",
    "subprocess",
    "inspect",
    "markdown_it",
    "sqlite3",
    "click",
    "asbuilt.plan",
}


def _loaded(talk: Talk, event: str) -> set[str]:
    python, *rest = hook_argv(event)
    payload = json.dumps(talk.payload(event, permission_mode="default", prompt="hello"))
    told = _told(talk, [python, "-v", *rest], payload)
    return told - _told(talk, [python, "-v", "-I", "-S", "-c", "pass"], "") - set(sys.builtin_module_names)


def _told(talk: Talk, argv: list[str], payload: str) -> set[str]:
    done = subprocess.run(argv, input=payload, env=talk.environ, capture_output=True, text=True, check=True)
    return {line.split("'")[1] for line in done.stderr.splitlines() if line.startswith("import '")}


def test_an_event_that_only_changes_the_hold_loads_as_little_as_the_gate(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        assert _loaded(talk, "PostToolBatch") - EITHER == HOLD_ONLY


def test_in_a_conversation_that_is_none_of_ours_nothing_heavy_is_loaded(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        for event in ("UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"):
            assert _loaded(talk, event) & HEAVY == set()
