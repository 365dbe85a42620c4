"""The user's deny rules for commands.

Claude Code matches these rules against the rewritten command, so a rule that denies `git log` would no
longer match it. The gate therefore checks the original command.

Rule: a deny rule that may match a command does match it.
"""

from __future__ import annotations

import os

from asbuilt.policy.light_json import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
_OWN = "settings.json"
_LARGEST = 1 << 20
_TOOL = "Bash"


def denying(text: str, environ: Mapping[str, str], root: str) -> str:
    """Return the rule that denies a command; empty if none does."""
    config = environ.get("CLAUDE_CONFIG_DIR") or f"{environ.get('HOME', '')}/.claude"
    local = f"{root}/.claude/settings.local.json"
    for file in (f"{config}/{_OWN}", f"{root}/.claude/{_OWN}", local, *_MANAGED):
        for rule in _rules_in(file):
            if _is_about(rule, text):
                return rule
    return ""


def _rules_in(file: str) -> Iterator[str]:
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        settings = read(os.read(opened, _LARGEST).decode())
    except (OSError, ValueError):
        # Claude Code ignores an unreadable settings file too.
        return
    finally:
        os.close(opened)
    permissions = settings.get("permissions") if isinstance(settings, dict) else None
    rules = permissions.get("deny") if isinstance(permissions, dict) else None
    yield from (rule for rule in rules if isinstance(rule, str)) if isinstance(rules, list) else ()


def _is_about(rule: str, text: str) -> bool:
    tool, _, pattern = rule.partition("(")
    if tool.strip() != _TOOL:
        return False
    if not pattern:
        return True
    first, *rest = pattern.removesuffix(")").replace(":*", "*").split("*")
    for separator in "|&;\n":
        text = text.replace(separator, "\n")
    return any(_meets(line.strip(), first, rest) for line in text.split("\n"))


def _meets(line: str, first: str, rest: list[str]) -> bool:
    """Return whether a line starts with `first` and contains the rest in this order."""
    if not line.startswith(first.rstrip()) or (not rest and line != first):
        return False
    at = len(first.rstrip())
    for part in rest:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
