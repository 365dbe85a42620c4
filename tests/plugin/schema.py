"""What the files of the plugin may say, word by word; Claude Code passes over what it does not know.

The one rule: a key that is not listed is a problem, because a misspelt one is silently another plugin.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from asbuilt.cli.commands.init.rendering import HOOKS, headed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MATCHED: Final = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse"})
"""The events of ours that name tools."""
EVENTS: Final = frozenset(
    {*MATCHED, "SessionStart", "SessionEnd", "UserPromptSubmit", "PostToolBatch"}
    | {"PreCompact", "PostCompact", "Stop"}
)
"""All that the hook answers."""
READS: Final = frozenset({"Read", "Grep", "Glob"})
_PLUGIN: Final = {
    "name": str,
    "version": str,
    "description": str,
    "author": dict,
    "license": str,
    "keywords": list,
}
_MARKETPLACE: Final = {"name": str, "description": str, "owner": dict, "plugins": list}
_LISTED: Final = {"name": str, "source": str, "version": str, "description": str}
_SKILL: Final = {
    "description": str,
    "argument-hint": str,
    "disable-model-invocation": bool,
    "allowed-tools": str,
}
_AGENT: Final = {"name": str, "description": str, "tools": str}
_HOOK: Final = {"type": str, "command": str, "timeout": int}


def problems(files: Mapping[str, str]) -> list[str]:
    """List what is wrong with a plugin, given as texts by path."""
    return [f"{name}: {said}" for name, text in files.items() for said in _in_file(name, text)]


def _in_file(name: str, text: str) -> Iterator[str]:
    if name == HOOKS:
        yield from _hooks(json.loads(text))
    elif name == ".claude-plugin/plugin.json":
        yield from _keys("", json.loads(text), _PLUGIN)
    elif name == ".claude-plugin/marketplace.json":
        value = json.loads(text)
        yield from _keys("", value, _MARKETPLACE)
        for one in value.get("plugins", []):
            yield from _keys("plugins", one, _LISTED)
    elif re.fullmatch(r"skills/[a-z-]+/SKILL\.md", name):
        yield from _skill(*headed(text))
    elif re.fullmatch(r"agents/[a-z]+\.md", name):
        yield from _agent(name, *headed(text))
    else:
        yield "no such file is known"


def _keys(
    where: str, value: Mapping[str, Any], known: Mapping[str, type], *, more: Mapping[str, type] | None = None
) -> Iterator[str]:
    """Find keys that are unknown, missing, or of another type; those of `more` may be missing."""
    lead = f"{where}: " if where else ""
    every = {**known, **(more or {})}
    for key in value:
        if key not in every:
            yield f"{lead}unknown key {key}"
        elif type(value[key]) is not every[key]:
            yield f"{lead}{key} is no {every[key].__name__}"
    yield from (f"{lead}no {key}" for key in known if key not in value)


def _hooks(value: Mapping[str, Any]) -> Iterator[str]:
    yield from _keys("", value, {"description": str, "hooks": dict})
    for event, groups in value.get("hooks", {}).items():
        if event not in EVENTS:
            yield f"unknown event {event}"
        for group in groups:
            yield from _keys(event, group, {**({"matcher": str} if event in MATCHED else {}), "hooks": list})
            for hook in group.get("hooks", []):
                yield from _keys(event, hook, _HOOK)
                if not hook.get("command", "").endswith(f" {event}"):
                    yield f"{event}: its command is for another event"


def _skill(head: Mapping[str, Any], body: str) -> Iterator[str]:
    yield from _keys("", head, _SKILL)
    if head.get("disable-model-invocation") is not True:
        yield "the model could start it"
    rules = re.findall(r"Bash\(([^()]*?)(:\*)?\)", head.get("allowed-tools", ""))
    for command in re.findall(r"!`([^`]*)`", body):
        if not any(command == rule or (more and command.startswith(f"{rule} ")) for rule, more in rules):
            yield f"{command} is run at once, and not allowed"
    # Words of a person, or of a model, would be words of a shell.
    if re.search(r"!`[^`]*\$", body):
        yield "a command that is run at once takes arguments"


def _agent(name: str, head: Mapping[str, Any], body: str) -> Iterator[str]:
    yield from _keys("", head, _AGENT, more={"omitClaudeMd": bool})
    if name != f"agents/{head.get('name')}.md":
        yield "its name is another than its file's"
    if not {tool.strip() for tool in head.get("tools", "*").split(",")} <= READS:
        yield "it has tools that do not only read"
    if not body.startswith("READ-ONLY."):
        yield "it does not begin with the prohibition"
