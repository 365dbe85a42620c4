"""The user's own rules against commands: Claude Code matches them with what the gate made of a command.

A rule that denies `git log` would no longer meet it, so the gate looks for itself.

The one rule: a rule that may be about a command is about it.
"""

from __future__ import annotations

import os

from asbuilt.policy.notation import read

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
    """Give the rule that denies a command; empty: none does."""
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
        # What cannot be read is no rule to Claude Code either.
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
    """Tell whether a line begins so, and has the rest in this order."""
    if not line.startswith(first.rstrip()) or (not rest and line != first):
        return False
    at = len(first.rstrip())
    for part in rest:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
