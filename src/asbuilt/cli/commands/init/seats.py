"""Where on this machine an agent gets what. It looks, and writes nothing."""

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
    """Where one agent gets what, on this machine."""

    tool: Tool
    top: Path
    keep: Path
    """Where the record is."""
    home: Path
    path: str
    """The user's PATH."""
    settings: Path | None
    """Claude Code's, in which the plugin is named."""

    @property
    def folder(self) -> Path:
        """What people are told."""
        return self.top / self.tool.below

    @property
    def record(self) -> Record:
        """Read what we have put there."""
        return read_record(self.keep)

    def shown(self, file: Path) -> str:
        """Write a path as people do."""
        return f"~/{file.relative_to(self.home)}" if file.is_relative_to(self.home) else str(file)

    def files(self) -> dict[Path, bytes]:
        """Render what belongs there."""
        rendered = self.tool.render(source.read(), _call(self.path))
        return {self.folder / name: text.encode() for name, text in rendered.items()}


def seat_of(name: str, environ: Mapping[str, str]) -> Seat:
    """Find an agent's places."""
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
    """Say how this very asbuilt is started, and its hook."""
    argv = program(sys.argv[0], found=shutil.which(sys.argv[0]), python=sys.executable)
    found = shutil.which("asbuilt", path=path)
    is_found = found is not None and Path(found).resolve() == Path(argv[0]).resolve()
    return Call(asbuilt=argv, typed=("asbuilt",) if is_found else argv, hook=hook_argv)
