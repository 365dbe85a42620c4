"""Files that hold settings, and the lines of keys in them.

Rule: only regular files up to 1 MiB are read, so that no read hangs.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Final, NamedTuple

from asbuilt.errors import SettingInvalid
from asbuilt.settings.user_folders import config_folder, home_of

FOLDER: Final = "asbuilt"
"""Name of the user's settings folder. The folder of `ASBUILT_USER_FILE` may belong to other programs, too."""
ORGANISATION_FILE: Final = Path("/etc/asbuilt/config.toml")
_SIZE_LIMIT: Final = 1 << 20
_LINE_SHOWN: Final = 60
# A spelling of other tools, so that their repositories work unchanged.
_REPOSITORY_ALIASES: Final = {"plansDirectory": "plans.folder"}


class Place(NamedTuple):
    """A file that may hold settings."""

    file: Path
    name: str
    """The file as people write it: `asbuilt.toml`, `~/.config/asbuilt/config.toml`."""
    table: tuple[str, ...] = ()
    """The table with asbuilt's settings; empty: the whole file."""
    aliases: Mapping[str, str] = MappingProxyType({})
    """Other spellings of keys at the top of that table."""
    is_users: bool = False
    """The user's own file, which no other user should read."""


def user_place(environ: Mapping[str, str]) -> Place:
    """Return the user's settings file; `ASBUILT_USER_FILE` names another one."""
    other = environ.get("ASBUILT_USER_FILE")
    file = Path(other) if other else config_folder(environ) / FOLDER / "config.toml"
    home = home_of(environ)
    name = f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
    return Place(file=file, name=name, is_users=True)


def loose(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the settings folder and files of the user to which other users have access."""
    file = user_place(environ).file
    found = [file.parent, *sorted(file.parent.glob("*"))] if file.parent.name == FOLDER else [file]
    return tuple(path for path in found if path.exists() and path.stat().st_mode & 0o077)


def organisation_file(environ: Mapping[str, str], *, installed: Path = ORGANISATION_FILE) -> Path:
    """Return the organisation's settings file.

    `ASBUILT_ORGANISATION_FILE` counts only if none is installed; otherwise any user could unlock its keys.
    """
    other = environ.get("ASBUILT_ORGANISATION_FILE")
    return Path(other) if other and not installed.exists() else installed


def repository_place(root: Path) -> Place:
    """Return the settings file of a repository; `asbuilt.toml` if there is none."""
    own = Place(file=root / "asbuilt.toml", name="asbuilt.toml", aliases=_REPOSITORY_ALIASES)
    project = Place(
        file=root / "pyproject.toml",
        name="pyproject.toml",
        table=("tool", "asbuilt"),
        aliases=_REPOSITORY_ALIASES,
    )
    text = text_of(project) or ""
    # Most of these files do not mention asbuilt: they are neither parsed nor reported.
    if "asbuilt" not in text or table_of(project, text) is None:
        return own
    if own.file.exists():
        line = line_of(text, project.table)
        raise SettingInvalid(
            f"settings stand in both asbuilt.toml and {project.name}{f':{line}' if line else ''}",
            why="The two files could contradict each other.",
            next_step=f"{correcting(project.file, line)} to remove [tool.asbuilt], or remove asbuilt.toml.",
        )
    return project


def text_of(place: Place) -> str | None:
    """Read a settings file as text; None if there is none."""
    content = bytes_of(place)
    return None if content is None else decoded(place, content)


def decoded(place: Place, content: bytes) -> str:
    """Decode a settings file; a byte order mark is dropped."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        because = f"byte {error.start} is not UTF-8"
        raise _unreadable(place, because, next_step=correcting(place.file)) from error


def bytes_of(place: Place) -> bytes | None:
    """Read a settings file; None if there is none."""
    try:
        found = place.file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _unreadable(place, "it is not a regular file")
        if found.st_size > _SIZE_LIMIT:
            raise _unreadable(place, "it is larger than 1 MiB")
        return place.file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(place, error.strerror or str(error)) from error


def correcting(file: Path, line: int | None = None) -> str:
    """Return the command that opens a file in the user's editor, at a line; it works in any folder."""
    place = f"+{line} " if line else ""
    return f"`${{EDITOR:-vi}} {place}{_from_here(file)}`"


def _from_here(file: Path) -> str:
    try:
        here = Path.cwd()
    except OSError:  # it was deleted
        return quote(str(file))
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    if here.is_relative_to(file.parent):
        return quote(os.path.relpath(file, here))
    # The shell replaces `~` only outside of quotes.
    return f"~/{quote(str(file.relative_to(home)))}" if file.is_relative_to(home) else quote(str(file))


def table_of(place: Place, text: str) -> dict[str, object] | None:
    """Parse a settings file and return asbuilt's table; None if it has none."""
    try:
        table: object = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        position = re.search(r"\(at (?:line (\d+)|end of document)", str(error))
        number = int(position[1] or text.count("\n") + 1) if position else 0
        where = f"{place.name}:{number}" if number else place.name
        # The user's own file may hold secrets.
        is_shown = number and not place.is_users
        line = text.split("\n")[number - 1].strip()[:_LINE_SHOWN] if is_shown else ""
        shown = f" The line is: {line}" if line else ""
        raise SettingInvalid(
            f"{where}: not TOML: {str(error).partition(' (at ')[0][:120]}",
            why=f"asbuilt does not use a settings file that it can parse only in part.{shown}",
            next_step=correcting(place.file, number),
        ) from error
    for name in place.table:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


_PART: Final = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_NAME: Final = rf"({_PART}(?:[ \t]*\.[ \t]*{_PART})*)"
# Compiled only when a message needs them, which is rare.
_TABLE_LINE: Final = rf"[ \t]*\[\[?[ \t]*{_NAME}[ \t]*\]"
_KEY_LINE: Final = rf"[ \t]*{_NAME}[ \t]*="


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    """Find the line that sets a key, for a message. tomllib reports no lines, so this scans the text."""
    table: tuple[str, ...] = ()
    closing = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := re.match(_TABLE_LINE, line):
            table = _parts(header[1])
            if table[: len(path)] == path:
                return number
        elif key := re.match(_KEY_LINE, line):
            full = table + _parts(key[1])
            if full[: len(path)] == path[: len(full)]:
                return number
        closing = next((quote for quote in ('"""', "'''") if line.count(quote) % 2), "")
    return None


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, name))


def _unreadable(place: Place, because: str, *, next_step: str = "") -> SettingInvalid:
    return SettingInvalid(
        f"{place.name} cannot be read: {because}",
        why="Your choice there would silently have no effect.",
        next_step=next_step or f"`ls -ld {quote(str(place.file))}`; make it a readable text file.",
    )
