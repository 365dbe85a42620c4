"""What each agent calls its tools, so that a model can be scripted for any of them.

The one rule: a script is told in our words (write, run, judge); the agent's own stand only here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.model import Call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Speech(NamedTuple):
    """One agent's tools."""

    kind: str
    """Of the adapter that drives it."""
    write: tuple[str, str, str]
    """A tool that makes a file, and what it calls path and content; codex's takes a patch."""
    run: tuple[str, str]
    verdict: tuple[str, str]
    """A tool and its namespace."""

    def writes(self, path: Path, text: str) -> Call:
        """Make a file."""
        tool, where, what = self.write
        if not where:
            lines = "".join(f"+{line}\n" for line in text.splitlines())
            return Call(tool, f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
        return Call(tool, {where: str(path), what: text})

    def runs(self, command: str) -> Call:
        """Run a command."""
        tool, what = self.run
        described = {"description": "as scripted"} if what == "command" else {}
        return Call(tool, {what: command, **described})

    def judges(self, verdict: Mapping[str, Any]) -> Call:
        """Leave a verdict."""
        tool, namespace = self.verdict
        return Call(tool, verdict, namespace)


SPEECHES = {
    "claude": Speech(
        "claude", ("Write", "file_path", "content"), ("Bash", "command"), ("StructuredOutput", "")
    ),
    "codex-acp": Speech(
        "codex", ("apply_patch", "", ""), ("exec_command", "cmd"), ("submit_verdict", "mcp__asbuilt")
    ),
    "gemini": Speech(
        "gemini",
        ("write_file", "file_path", "content"),
        ("run_shell_command", "command"),
        ("mcp_asbuilt_submit_verdict", ""),
    ),
    "opencode": Speech(
        "opencode", ("write", "filePath", "content"), ("bash", "command"), ("asbuilt_submit_verdict", "")
    ),
    "claude-acp": Speech(
        "claude-acp",
        ("Write", "file_path", "content"),
        ("Bash", "command"),
        ("mcp__asbuilt__submit_verdict", ""),
    ),
}
