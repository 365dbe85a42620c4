"""Which agents can be given something, what, and where they look for it."""

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
    """An agent that can be given something."""

    name: str
    title: str
    gets: str
    """What it is given, in a few words."""
    render: Callable[[Mapping[str, str], rendering.Call], dict[str, str]]
    top: Callable[[Mapping[str, str]], Path]
    """The folder in which ours are put; it is not ours itself."""
    below: str
    """The folder of ours in it; empty: names of their own."""


def claude_settings(environ: Mapping[str, str]) -> Path:
    """Say where Claude Code has the user's settings."""
    return _folder(environ, "CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def home_of(environ: Mapping[str, str]) -> Path:
    """Say whose files these are."""
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
