"""Render the plugin source for each agent. Pure: the output depends on the source and on `Call` only.

Rule: a command that runs without a prompt has an absolute path, so that PATH cannot change what runs.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import yaml

from asbuilt._version import VERSION

MARKETPLACE: Final = "asbuilt"
PLUGIN: Final = "asbuilt@asbuilt"
HOOKS: Final = "hooks/hooks.json"
_HOOK: Final = "asbuilt-hook "
_UNASKED: Final = re.compile(r"(?<=!`)asbuilt (?=[^`]*`)|(?<=Bash\()asbuilt (?=[^():]*\))")
"""A command that runs without a prompt, and the rule that allows it."""
_ASKED: Final = re.compile(r"(?<=`)asbuilt (?=[^`]*`)|(?<=Bash\()asbuilt (?=[^()]*:\*\))")
"""A command that the agent is asked to run, and the rule for all with this prefix."""
_RUN_AT_ONCE: Final = re.compile(r"!`([^`]+)`")
_OF_A_CONVERSATION: Final = "!`asbuilt session status`\n\n"
"""Removed for other agents, because only Claude Code's hooks know the conversation."""
_OF_HOOKS: Final = ("skills/author/SKILL.md",)
"""Skills that need hooks which keep a turn from ending; only Claude Code gets them."""
_NAMED: Final = re.compile(r"/asbuilt:([\w-]+)")


class Call(NamedTuple):
    """How this installation of asbuilt is started."""

    asbuilt: tuple[str, ...]
    """With an absolute path."""
    typed: tuple[str, ...]
    """By name if PATH finds this installation, as the gate knows it."""
    hook: Callable[[str], tuple[str, ...]]
    """The argv for an event's name."""


class Skill(NamedTuple):
    """A skill of the source."""

    name: str
    description: str
    body: str


def claude(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Render the Claude Code plugin, which is its own marketplace."""
    return {
        name: _hooks(text, call) if name == HOOKS else _called(text, call) for name, text in source.items()
    }


def codex(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Render Codex skills that start only by name in a message: `$asbuilt-status`."""
    given: dict[str, str] = {}
    for skill in _skills(source, call):
        body = _RUN_AT_ONCE.sub(r"(run `\1` now: what it says stands here)", skill.body)
        head = {"name": f"asbuilt-{skill.name}", "description": skill.description}
        given[f"asbuilt-{skill.name}/SKILL.md"] = _headed(head, _NAMED.sub(r"$asbuilt-\1", body))
        policy = {"policy": {"allow_implicit_invocation": False}}
        given[f"asbuilt-{skill.name}/agents/openai.yaml"] = yaml.safe_dump(policy)
    return given


def gemini(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Render a Gemini extension with commands: `/asbuilt:status`."""
    about = json.loads(source[".claude-plugin/plugin.json"])["description"]
    manifest = {"name": "asbuilt", "version": VERSION, "description": about}
    given = {"gemini-extension.json": json.dumps(manifest, indent=2) + "\n"}
    for skill in _skills(source, call):
        body = _RUN_AT_ONCE.sub(r"!{\1}", skill.body)
        text = f"description = {json.dumps(skill.description)}\nprompt = '''\n{body}'''\n"
        given[f"commands/asbuilt/{skill.name}.toml"] = text
    return given


def opencode(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Render opencode commands: `/asbuilt-status`."""
    return {
        f"asbuilt-{skill.name}.md": _headed(
            {"description": skill.description}, _NAMED.sub(r"/asbuilt-\1", skill.body)
        )
        for skill in _skills(source, call)
    }


def headed(text: str) -> tuple[dict[str, Any], str]:
    """Split a text into its front matter and its body."""
    _, head, body = text.split("---\n", 2)
    return yaml.safe_load(head), body


def _skills(source: Mapping[str, str], call: Call) -> Iterator[Skill]:
    for name, text in source.items():
        if name.startswith("skills/") and name not in _OF_HOOKS:
            head, body = headed(_called(text.replace(_OF_A_CONVERSATION, ""), call))
            yield Skill(name.split("/")[1], head["description"], body)


def _headed(head: Mapping[str, str], body: str) -> str:
    return f"---\n{yaml.safe_dump(dict(head), sort_keys=False, width=1000)}---\n{body}"


def _called(text: str, call: Call) -> str:
    from_root, typed = (f"{shlex.join(argv)} " for argv in (call.asbuilt, call.typed))
    return _ASKED.sub(lambda _: typed, _UNASKED.sub(lambda _: from_root, text))


def _hooks(text: str, call: Call) -> str:
    value = json.loads(text)
    for matchers in value["hooks"].values():
        for hook in (hook for matcher in matchers for hook in matcher["hooks"]):
            hook["command"] = shlex.join(call.hook(hook["command"].removeprefix(_HOOK)))
    return json.dumps(value, indent=2) + "\n"
