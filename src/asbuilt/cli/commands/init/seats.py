"""Folders and files of each agent on this machine. Read-only."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.cli.commands.init import source
from asbuilt.cli.commands.init.placing import read_record
from asbuilt.cli.commands.init.rendering import Call
from asbuilt.cli.commands.init.tools import TOOLS, Tool, claude_settings, home_of
from asbuilt.cli.commands.worker.units import program
from asbuilt.session.entry import hook_argv
from asbuilt.settings import data_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.cli.commands.init.placing import Record


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
        rendered = self.tool.render(source.read(), _call(self.path))
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
