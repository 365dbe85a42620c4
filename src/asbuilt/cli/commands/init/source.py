"""Find the source of all agents' files: the folder `plugin/`, in the package or in the repository."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from asbuilt.errors import NotFound


def where() -> Path:
    """Find the folder: in the installed package, or in the repository that asbuilt is run from."""
    packed = Path(str(files(__package__).joinpath("plugin")))
    found = packed if packed.is_dir() else Path(__file__).parents[5] / "plugin"
    if not (found / ".claude-plugin").is_dir():
        raise NotFound(
            f"there is no plugin at {packed}",
            why="It is installed with asbuilt; without it no agent can be given anything.",
            next_step="Install asbuilt again.",
        )
    return found


def read() -> dict[str, str]:
    """Read every file, by its relative path."""
    folder = where()
    return {
        file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
