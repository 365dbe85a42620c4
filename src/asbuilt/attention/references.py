"""Resolve references in settings: `env:NAME`, `file:PATH`. Errors never contain a secret."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.errors import SettingInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLE: Final = "env:"
_FILE: Final = "file:"
_MOST: Final = 4_096


def variable_in(text: str) -> str | None:
    """Return the environment variable that a reference names; None for other values."""
    return text.removeprefix(_VARIABLE) if text.startswith(_VARIABLE) else None


def is_reference(text: str) -> bool:
    """Return whether a value is a reference."""
    return text.startswith((_VARIABLE, _FILE))


def pointed_to(text: str, environ: Mapping[str, str], *, key: str) -> str:
    """Return the secret that a setting refers to; refuses a literal secret, without repeating it."""
    if not is_reference(text):
        raise SettingInvalid(
            f"{key} does not point anywhere",
            why="Settings are shown, copied and kept in version control; a secret stands elsewhere.",
            next_step="Point to it: env:NAME or file:/PATH.",
        )
    return resolved(text, environ, key=key)


def resolved(text: str, environ: Mapping[str, str], *, key: str) -> str:
    """Resolve a reference; other values are returned as they are."""
    if not is_reference(text):
        return text
    name = variable_in(text)
    found = _content(Path(text.removeprefix(_FILE)), environ) if name is None else environ.get(name)
    if not found or len(found) > _MOST or not (found.isascii() and found.isprintable()):
        raise SettingInvalid(
            f"{key} points to {text}, and there is no line of plain text",
            why="Without it nobody can be reached this way.",
            next_step="Put it there, or point elsewhere: env:NAME or file:/PATH.",
        )
    return found


def _content(file: Path, environ: Mapping[str, str]) -> str | None:
    parts = file.parts
    at = Path(environ.get("HOME", "/"), *parts[1:]) if parts[:1] == ("~",) else file
    try:
        with at.open(encoding="utf-8") as opened:
            return opened.read(_MOST + 1).strip()
    except (OSError, ValueError):
        return None
