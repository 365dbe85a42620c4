"""`asbuilt-hook`, which the plugin names before anybody has rendered it, is the same hook."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from asbuilt.session.hook_command import hook_argv

STARTED = (
    "import sys; from asbuilt.hook.plugin_entry import main;"
    " sys.argv = ['asbuilt-hook', 'PreToolUse']; main()"
)


def test_a_hook_that_is_found_on_the_path_answers_as_the_rendered_one(tmp_path: Path) -> None:
    call = {
        "session_id": "s",
        "transcript_path": str(tmp_path / "t.jsonl"),
        "cwd": str(tmp_path),
        "permission_mode": "plan",
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(tmp_path / "made.txt"), "content": "x"},
    }
    answers = [
        subprocess.run(
            argv,
            input=json.dumps(call),
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for argv in ([sys.executable, "-c", STARTED], hook_argv("PreToolUse"))
    ]
    assert answers[0] == answers[1]
    assert json.loads(answers[0])["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_it_is_installed_with_asbuilt() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"]["asbuilt-hook"] == "asbuilt.hook.plugin_entry:main"
