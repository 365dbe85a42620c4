"""Read `[[checks.suites]]`. A value is a line of TOML for each suite, which is shown like any other text."""

from __future__ import annotations

import json
import tomllib
from pathlib import PurePosixPath
from typing import Final

_COUNTS: Final = ("tests", "exit-code")
_MOST: Final = 12
WANTED: Final = (
    "a list of suites, each with command, and if needed folder, setup and counts (tests, exit-code)"
)


def suites_from(raw: object) -> tuple[str, ...] | None:
    """Read suites as a settings file holds them, or as lines; None where one of them means nothing."""
    if not isinstance(raw, list | tuple) or len(raw) > _MOST:
        return None
    lines = [_line(_table(one)) for one in raw]
    return None if None in lines else tuple(line for line in lines if line is not None)


def tables(value: object) -> list[dict[str, str]]:
    """Return the suites of a value as tables."""
    return [_table(line) for line in value] if isinstance(value, tuple) else []


def _table(one: object) -> dict[str, str]:
    if isinstance(one, str):
        try:
            one = tomllib.loads(f"it = {one}")["it"] if one.isprintable() else None
        except (ValueError, RecursionError):
            return {}
    if not isinstance(one, dict) or not all(
        isinstance(text, str) and text.isprintable() for text in one.values()
    ):
        return {}
    return {str(name): str(text) for name, text in one.items()}


def _line(table: dict[str, str]) -> str | None:
    folder = PurePosixPath(table.get("folder", ""))
    is_inside = not folder.is_absolute() and ".." not in folder.parts
    known = {"folder", "command", "setup", "counts"} >= {*table}
    if not (
        table.get("command", "").strip() and known and is_inside and table.get("counts", "tests") in _COUNTS
    ):
        return None
    plain = {**table, "folder": "" if str(folder) == "." else str(folder)}
    fields = [
        f"{name} = {json.dumps(plain[name], ensure_ascii=False)}" for name in sorted(plain) if plain[name]
    ]
    return f"{{{', '.join(fields)}}}"
