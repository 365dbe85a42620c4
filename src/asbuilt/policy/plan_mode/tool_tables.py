"""What each tool of Claude Code may do while plan mode is on. Pure.

Every tool that 2.1.325 offers is in a table; `tests/live/test_gate.py` compares.

Rule: a tool that is in no table is refused, unless the user lists it in `planning.tools`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

QUIET = frozenset(
    (
        # They read, talk, or keep lists inside the conversation.
        *("AskUserQuestion", "BashOutput", "CronList", "EnterPlanMode", "ExitPlanMode", "KillBash"),
        *("KillShell", "ListAgents", "LSP", "ReportFindings", "Skill", "StructuredOutput", "TaskCreate"),
        *("TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch"),
        *("WaitForMcpServers", "WebFetch", "WebSearch"),
    )
)
READS = {"Read": "file_path", "NotebookRead": "notebook_path", "Grep": "path", "Glob": "path", "LS": "path"}
"""Tools that read, and the field of their input with the path."""
WRITES = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tools that change a file, and the field of their input with the path."""
STARTS = frozenset(("Agent", "Task"))
"""Tools that start a subagent, whose own calls are judged like any other."""
RUNS = "Bash"
REFUSED = {
    "Artifact": "it publishes",
    "ArtifactCheck": "it publishes",
    "ArtifactComments": "it publishes",
    "ArtifactData": "it publishes",
    "Config": "it changes settings",
    "CronCreate": "it would act later",
    "CronDelete": "it changes what acts later",
    "DesignSync": "it publishes",
    "EnterWorktree": "it makes a worktree",
    "ExitWorktree": "it may remove a worktree",
    "Monitor": "it runs a command that the gate cannot check",
    "PowerShell": "it runs a command that the gate cannot parse",
    "PushNotification": "it sends a message out",
    "REPL": "it runs code",
    "RemoteTrigger": "it starts work elsewhere",
    "ScheduleWakeup": "it would act later",
    "SendMessage": "it starts work of another agent, which may not be in plan mode",
    "SendUserFile": "it sends a file out",
    "ShareOnboardingGuide": "it publishes",
    "TeamCreate": "it starts agents that the gate does not see",
    "TeamDelete": "it ends agents",
    "Workflow": "it runs a script",
}
"""Known tools that are refused, and why."""


def is_listed(tool: str, listed: Iterable[str]) -> bool:
    """Return whether the user has listed a tool, by its name or a prefix: `mcp__shop__*`."""
    return any(
        tool == pattern or (pattern.endswith("*") and tool.startswith(pattern[:-1])) for pattern in listed
    )


def refusal_of(tool: str) -> str:
    """Return why a tool that neither reads, writes, runs nor starts is refused; empty: it is allowed."""
    if tool in QUIET:
        return ""
    if tool in REFUSED:
        return f"plan mode is read-only and {tool} is refused: {REFUSED[tool]}."
    if tool.startswith("mcp__"):
        return (
            f"plan mode is read-only, and {tool} is not listed as read-only."
            f" If it does: asbuilt config set planning.tools {tool}"
        )
    return f"plan mode is read-only, and {tool} is a tool that asbuilt does not know."
