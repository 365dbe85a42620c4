"""Say what each tool of Claude Code is to a conversation in which planning is held. Pure.

Every tool that 2.1.325 offers is in a table; `tests/live/test_gate.py` compares.

The one rule: a tool that is not in a table is refused.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

QUIET = frozenset(
    (
        # They look, talk, or keep lists inside the conversation.
        "AskUserQuestion",
        "BashOutput",
        "CronList",
        "EnterPlanMode",
        "ExitPlanMode",
        "KillBash",
        "KillShell",
        "ListAgents",
        "LSP",
        "ReportFindings",
        "Skill",
        "StructuredOutput",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TodoWrite",
        "ToolSearch",
        "WaitForMcpServers",
        "WebFetch",
        "WebSearch",
    )
)
READS = {"Read": "file_path", "NotebookRead": "notebook_path", "Grep": "path", "Glob": "path", "LS": "path"}
"""Tools that read, and where in their input the path stands."""
WRITES = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tools that change a file, and where in their input the path stands."""
STARTS = frozenset(("Agent", "Task"))
"""Tools that start a subagent: its own calls are asked about like any other."""
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
    "Monitor": "it runs a command that nobody has read",
    "PowerShell": "it runs a command that nobody can read",
    "PushNotification": "it sends a message out",
    "REPL": "it runs code",
    "RemoteTrigger": "it starts work elsewhere",
    "ScheduleWakeup": "it would act later",
    "SendMessage": "it tells another agent to act, which may not be planning",
    "SendUserFile": "it sends a file out",
    "ShareOnboardingGuide": "it publishes",
    "TeamCreate": "it starts agents that are not held here",
    "TeamDelete": "it ends agents",
    "Workflow": "it runs a script",
}
"""Tools that are known and refused, and why."""


def is_listed(tool: str, listed: Iterable[str]) -> bool:
    """Tell whether the user has listed a tool, by its name or by how its name begins: `mcp__shop__*`."""
    return any(tool == one or (one.endswith("*") and tool.startswith(one[:-1])) for one in listed)


def refusal_of(tool: str) -> str:
    """Say why a tool that neither reads, writes, runs nor starts is refused; empty: it is not."""
    if tool in QUIET:
        return ""
    if tool in REFUSED:
        return f"planning is read-only and {tool} is refused: {REFUSED[tool]}."
    if tool.startswith("mcp__"):
        return (
            f"planning is read-only, and nobody has said that {tool} only reads."
            f" If it does: asbuilt config set planning.tools {tool}"
        )
    return f"planning is read-only, and {tool} is a tool that asbuilt does not know."
