"""Make of the one source what each agent reads. Pure: the source and how asbuilt is called decide it all.

The one rule: what runs without a question begins at the root, so that no PATH decides what it is.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import yaml

from asbuilt._version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MARKETPLACE: Final = "asbuilt"
PLUGIN: Final = "asbuilt@asbuilt"
HOOKS: Final = "hooks/hooks.json"
_HOOK: Final = "asbuilt-hook "
_UNASKED: Final = re.compile(r"(?<=!`)asbuilt (?=[^`]*`)|(?<=Bash\()asbuilt (?=[^():]*\))")
"""A command that is run at once, and the rule that lets it."""
_ASKED: Final = re.compile(r"(?<=`)asbuilt (?=[^`]*`)|(?<=Bash\()asbuilt (?=[^()]*:\*\))")
"""A command that the agent is to run, and the rule for all that begin so."""
_RUN_AT_ONCE: Final = re.compile(r"!`([^`]+)`")
_OF_A_CONVERSATION: Final = "!`asbuilt session status`\n\n"
"""Only the hooks of Claude Code know of one."""
_OF_HOOKS: Final = ("skills/author/SKILL.md",)
"""What no agent can do whose turns nobody keeps from ending."""
_NAMED: Final = re.compile(r"/asbuilt:([\w-]+)")


class Call(NamedTuple):
    """How this very asbuilt is started."""

    asbuilt: tuple[str, ...]
    """From the root."""
    typed: tuple[str, ...]
    """By its name where a PATH finds just this one, as the gate knows it."""
    hook: Callable[[str], tuple[str, ...]]
    """By the name of an event."""


class Skill(NamedTuple):
    """A skill of the source."""

    name: str
    description: str
    body: str


def claude(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Give the plugin of Claude Code, a marketplace of its own."""
    return {
        name: _hooks(text, call) if name == HOOKS else _called(text, call) for name, text in source.items()
    }


def codex(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Give skills that only their name in a message starts: `$asbuilt-status`."""
    given: dict[str, str] = {}
    for skill in _skills(source, call):
        body = _RUN_AT_ONCE.sub(r"(run `\1` now: what it says stands here)", skill.body)
        head = {"name": f"asbuilt-{skill.name}", "description": skill.description}
        given[f"asbuilt-{skill.name}/SKILL.md"] = _headed(head, _NAMED.sub(r"$asbuilt-\1", body))
        policy = {"policy": {"allow_implicit_invocation": False}}
        given[f"asbuilt-{skill.name}/agents/openai.yaml"] = yaml.safe_dump(policy)
    return given


def gemini(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Give an extension with commands: `/asbuilt:status`."""
    about = json.loads(source[".claude-plugin/plugin.json"])["description"]
    manifest = {"name": "asbuilt", "version": VERSION, "description": about}
    given = {"gemini-extension.json": json.dumps(manifest, indent=2) + "\n"}
    for skill in _skills(source, call):
        body = _RUN_AT_ONCE.sub(r"!{\1}", skill.body)
        text = f"description = {json.dumps(skill.description)}\nprompt = '''\n{body}'''\n"
        given[f"commands/asbuilt/{skill.name}.toml"] = text
    return given


def opencode(source: Mapping[str, str], call: Call) -> dict[str, str]:
    """Give commands: `/asbuilt-status`."""
    return {
        f"asbuilt-{skill.name}.md": _headed(
            {"description": skill.description}, _NAMED.sub(r"/asbuilt-\1", skill.body)
        )
        for skill in _skills(source, call)
    }


def headed(text: str) -> tuple[dict[str, Any], str]:
    """Part a text into the fields at its head and what follows them."""
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
