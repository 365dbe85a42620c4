"""The command line of a hook, used by the plugin, `doctor` and the benchmark.

Rule: the interpreter is absolute and isolated from the environment, and the script is absolute.
"""

from __future__ import annotations

import os
import sys

ASKED = ("PreToolUse", "PermissionRequest")
"""Events that the gate answers."""


def hook_argv(event: str) -> tuple[str, ...]:
    """Return the command line for an event, as Claude Code spells the event."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (sys.executable, "-I", "-S", f"{package}/hook/main.py", event)
