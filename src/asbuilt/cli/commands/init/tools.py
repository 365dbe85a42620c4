"""Agents that asbuilt can be installed into, what each gets, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.cli.commands.init import rendering
from asbuilt.settings import config_folder, data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """An agent that asbuilt can be installed into."""

    name: str
    title: str
    gets: str
    """What it gets, in a few words."""
    render: Callable[[Mapping[str, str], rendering.Call], dict[str, str]]
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
            render=rendering.claude,
            top=data_folder,
            below="claude",
        ),
        Tool(
            name="codex",
            title="Codex",
            gets="skills, as $asbuilt-status",
            render=rendering.codex,
            top=lambda environ: _folder(environ, "CODEX_HOME", ".codex") / "skills",
            below="",
        ),
        Tool(
            name="gemini",
            title="Gemini",
            gets="an extension: commands, as /asbuilt:status",
            render=rendering.gemini,
            top=lambda environ: home_of(environ) / ".gemini" / "extensions",
            below="asbuilt",
        ),
        Tool(
            name="opencode",
            title="opencode",
            gets="commands, as /asbuilt-status",
            render=rendering.opencode,
            top=lambda environ: config_folder(environ) / "opencode" / "commands",
            below="",
        ),
    )
}
