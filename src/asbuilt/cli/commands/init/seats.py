"""Agents that asbuilt can be installed into: what each gets, its folders, and how its files are rendered.

Rule: a command that runs without a prompt has an absolute path, so that PATH cannot change what runs.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from asbuilt._version import VERSION
from asbuilt.cli.commands.init.placing import Record, read_record
from asbuilt.cli.commands.worker.install import program
from asbuilt.errors import NotFound
from asbuilt.session.entry import hook_argv
from asbuilt.settings import config_folder, data_folder

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


def source_folder() -> Path:
    """Find the folder: in the installed package, or in the repository that asbuilt is run from."""
    packed = Path(str(files(__package__).joinpath("plugin")))
    found = packed if packed.is_dir() else Path(__file__).parents[5] / "plugin"
    if not (found / ".claude-plugin").is_dir():
        raise NotFound(
            f"there is no plugin at {packed}",
            why="This folder is part of the installation of asbuilt.",
            next_step="Install asbuilt again.",
        )
    return found


def plugin_source() -> dict[str, str]:
    """Read every file, by its relative path."""
    folder = source_folder()
    return {
        file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """An agent that asbuilt can be installed into."""

    name: str
    title: str
    gets: str
    """What it gets, in a few words."""
    render: Callable[[Mapping[str, str], Call], dict[str, str]]
    top: Callable[[Mapping[str, str]], Path]
    """The parent folder of our files; it belongs to the agent."""
    below: str
    """Our folder in it; empty: our files have distinct names instead."""


def claude_settings(environ: Mapping[str, str]) -> Path:
    """Return the path of the user's Claude Code settings."""
    return _folder(environ, "CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the user's home folder."""
    return Path(environ.get("HOME") or "~").expanduser()


def _folder(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    return Path(environ.get(variable) or home_of(environ) / below_home).absolute()


TOOLS: Final = {
    tool.name: tool
    for tool in (
        Tool(
            name="claude",
            title="Claude Code",
            gets="the gate, plans that survive /clear, commands",
            render=claude,
            top=data_folder,
            below="claude",
        ),
        Tool(
            name="codex",
            title="Codex",
            gets="skills, as $asbuilt-status",
            render=codex,
            top=lambda environ: _folder(environ, "CODEX_HOME", ".codex") / "skills",
            below="",
        ),
        Tool(
            name="gemini",
            title="Gemini",
            gets="an extension: commands, as /asbuilt:status",
            render=gemini,
            top=lambda environ: home_of(environ) / ".gemini" / "extensions",
            below="asbuilt",
        ),
        Tool(
            name="opencode",
            title="opencode",
            gets="commands, as /asbuilt-status",
            render=opencode,
            top=lambda environ: config_folder(environ) / "opencode" / "commands",
            below="",
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The folders and files of one agent on this machine."""

    tool: Tool
    top: Path
    keep: Path
    """Path of the record."""
    home: Path
    path: str
    """The user's PATH."""
    settings: Path | None
    """Claude Code's settings file, which names the plugin."""

    @property
    def folder(self) -> Path:
        """Folder of our files, as shown to the user."""
        return self.top / self.tool.below

    @property
    def record(self) -> Record:
        """The record of what asbuilt has written there."""
        return read_record(self.keep)

    def shown(self, file: Path) -> str:
        """Format a path, with `~` for the home folder."""
        return f"~/{file.relative_to(self.home)}" if file.is_relative_to(self.home) else str(file)

    def files(self) -> dict[Path, bytes]:
        """Render the files that belong there."""
        rendered = self.tool.render(plugin_source(), _call(self.path))
        return {self.folder / name: text.encode() for name, text in rendered.items()}


def seat_of(name: str, environ: Mapping[str, str]) -> Seat:
    """Find the folders of an agent."""
    tool = TOOLS[name]
    return Seat(
        tool=tool,
        top=tool.top(environ),
        keep=data_folder(environ) / f"{name}.json",
        home=home_of(environ),
        path=environ.get("PATH", ""),
        settings=claude_settings(environ) if name == "claude" else None,
    )


def _call(path: str) -> Call:
    """Return how this installation of asbuilt and its hook are started."""
    argv = program(sys.argv[0], found=shutil.which(sys.argv[0]), python=sys.executable)
    found = shutil.which("asbuilt", path=path)
    is_found = found is not None and Path(found).resolve() == Path(argv[0]).resolve()
    return Call(asbuilt=argv, typed=("asbuilt",) if is_found else argv, hook=hook_argv)
