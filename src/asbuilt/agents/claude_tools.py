"""Claude Code's tools in our words: which a role is given, and what a call of one is about. Pure.

The one rule: a tool that is not in the table is refused, and so is one whose input is not as we know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from asbuilt.agents.adapter import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.policy.roles import Kind

GIVEN: Final = ("Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Task", "Write")
"""What a worker is given; all else is taken away before it is asked for: network, schedules, other agents."""
GIVEN_TO_READ: Final = ("Read", "Grep", "Glob")
_VERDICT: Final = "StructuredOutput"

# Each tool: what a call of it is, and where in its input the path or the command stands.
_TOOLS: Final[dict[str, tuple[Kind, str]]] = {
    "Read": ("read", "file_path"),
    "Grep": ("read", "path"),
    "Glob": ("read", "path"),
    "Edit": ("edit", "file_path"),
    "MultiEdit": ("edit", "file_path"),
    "Write": ("edit", "file_path"),
    "NotebookEdit": ("edit", "notebook_path"),
    "Bash": ("run", "command"),
    "WebFetch": ("fetch", ""),
    "WebSearch": ("fetch", ""),
    "Task": ("delegate", ""),
    "Agent": ("delegate", ""),
    "BashOutput": ("note", ""),
    "KillShell": ("note", ""),
    "TaskOutput": ("note", ""),
    "TaskStop": ("note", ""),
    "TodoWrite": ("note", ""),
    "ToolSearch": ("note", ""),
    _VERDICT: ("submit", ""),
}


def call_of(tool: str, given: Mapping[str, Any], cwd: str | None = None) -> Call:
    """Say in our words what it is about to do."""
    kind, name = _TOOLS.get(tool, ("other", ""))
    named = given.get(name) if name else None
    if tool == "Glob" and named is None and str(given.get("pattern", "")).startswith("/"):
        named = given["pattern"]
    if kind == "delegate" and "isolation" in given:
        # A worktree of its own would be one that nobody proves.
        return Call(tool=tool, kind="other")
    match kind:
        case "edit" | "run" if not isinstance(named, str) or not named:
            return Call(tool=tool, kind="other")
        case "run":
            return Call(tool=tool, kind="run", command=named, cwd=cwd)
        case "edit" | "read" if named is None or isinstance(named, str):
            return Call(tool=tool, kind=kind, path=named)
        case "edit" | "read":
            return Call(tool=tool, kind="other")
        case _:
            return Call(tool=tool, kind=kind)
