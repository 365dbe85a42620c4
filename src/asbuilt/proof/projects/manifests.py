"""Parse manifests of other projects. Total: a text that cannot be parsed reads as empty.

Rule: callers share the returned values, so they must not change them.
"""

from __future__ import annotations

import json
import re
import tomllib
from configparser import Error, RawConfigParser
from functools import lru_cache
from typing import Any, Final

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_COMMENT: Final = re.compile(r"(?m)(^|\s)#.*$")


@lru_cache(maxsize=512)
def toml(text: str) -> dict[str, Any]:
    """Parse TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


@lru_cache(maxsize=512)
def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; a byte order mark is accepted, as node does."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@lru_cache(maxsize=512)
def ini(text: str) -> dict[str, dict[str, str]]:
    """Parse an ini file; comments are dropped first, also those inside values."""
    parser = RawConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        parser.read_string(_COMMENT.sub("", text))
    except (Error, ValueError, AttributeError):
        return {}
    return {name: {key: value or "" for key, value in parser[name].items()} for name in parser.sections()}


def table(value: object, *path: str) -> dict[str, Any]:
    """Return the table at a path of nested tables; empty if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: object) -> list[str]:
    """Return the texts of a list; a single text is a list of its lines."""
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [element for element in value if isinstance(element, str)] if isinstance(value, list) else []


def lines(text: str) -> list[str]:
    """Return the lines of a requirements file without comments."""
    return [line.strip() for line in _COMMENT.sub("", text).splitlines() if line.strip()]


def name_of(requirement: str) -> str:
    """Return the package that a requirement names, in its normal form; "" for an option."""
    found = _REQUIREMENT.match(requirement)
    return re.sub(r"[-_.]+", "-", found[1]).lower() if found else ""
