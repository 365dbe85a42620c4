"""Agents that asbuilt can be installed into: what each gets, its folders and files, and their source."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from msgspec import Struct

from asbuilt.cli.commands.init import rendering
from asbuilt.cli.commands.init.placing import Record, read_record
from asbuilt.cli.commands.init.rendering import Call
from asbuilt.cli.commands.worker.units import program
from asbuilt.errors import NotFound
from asbuilt.session.hook_command import hook_argv
from asbuilt.settings import config_folder, data_folder
from asbuilt.settings.user_folders import home_of


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


class Tool(Struct, frozen=True, kw_only=True):
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


class Seat(Struct, frozen=True, kw_only=True):
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
