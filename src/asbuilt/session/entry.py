"""How a hook is called: the very argv that the plugin runs, that doctor tries and that the bench times.

The one rule: an absolute interpreter with nothing of the environment in it, and an absolute script.
"""

from __future__ import annotations

import os
import sys

ASKED = ("PreToolUse", "PermissionRequest")
"""The events that the gate answers."""


def hook_argv(event: str) -> tuple[str, ...]:
    """Give the whole command line for an event, as Claude Code spells it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (sys.executable, "-I", "-S", f"{package}/hook/main.py", event)
