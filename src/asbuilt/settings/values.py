"""Parse one value, from TOML or from typed text. Rule: an invalid value raises; nothing is guessed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, TypeGuard, assert_never

from asbuilt.errors import SettingInvalid
from asbuilt.settings.hours import hours_in
from asbuilt.settings.registry import keys_near, setting_for
from asbuilt.settings.setting import BUILT_IN_SERVICES, Kind, ServiceTable, Setting, SuiteTable, Value
from asbuilt.similar_names import did_you_mean, nearest

_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})
_DIGITS: Final = 15
_LAST_PORT: Final = 65_535
_LISTS: Final = (
    Kind.GLOBS, Kind.CHOICES, Kind.NAMES, Kind.SERVICES, Kind.SUITES, Kind.HOSTS, Kind.PATHS,
)  # fmt: skip
_HOST: Final = re.compile(r"(https?://)?((\*\.)?[A-Za-z0-9_.-]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?/?")
_PATH: Final = re.compile(r"(~|/[^/]+)/.*[^/.].*")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
_PASSWORD: Final = re.compile(r"(://[^/:@\s]*:)[^/@\s]+@")


def setting_named(key: str) -> Setting:
    """Return the setting of a key; raise with the nearest known key if there is none."""
    found = setting_for(key)
    if found is not None:
        return found
    meant = nearest(key, keys_near(key))
    raise SettingInvalid(
        f'no setting "{key}"{did_you_mean(key, keys_near(key))}',
        why="An unknown key would have no effect, unnoticed.",
        next_step="`asbuilt config show` lists every key.",
        typed=key,
        meant="" if ".NAME." in meant else meant,
    )


def from_text(setting: Setting, text: str, *, where: str, next_step: str) -> Value:
    """Parse a value that was typed, or set in the environment."""
    return from_toml(setting, _as_toml(setting, text), where=where, next_step=next_step)


def from_toml(setting: Setting, raw: object, *, where: str, next_step: str) -> Value:
    """Parse a value from a settings file; raises SettingInvalid."""
    value, wanted = _fit(setting, raw)
    if value is None:
        place = f"{where}: " if where else ""
        shown_value = "" if setting.secret else f" {shown(raw)}"
        raise SettingInvalid(
            f"{place}{setting.key}{shown_value} is not {wanted}", why=setting.stakes, next_step=next_step
        )
    return value


def presented(setting: Setting, value: Value) -> Value:
    """Return a value as it may be shown; a secret, or a password in a URL, becomes `[secret]`."""
    if setting.secret and value:
        return "[secret]"
    return _PASSWORD.sub(r"\1[secret]@", value) if isinstance(value, str) else value


def shown(raw: object) -> str:
    """Format a value as a person would write it, in at most 40 characters."""
    text = json.dumps(raw, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def _as_toml(setting: Setting, text: str) -> object:
    word = text.strip().lower()
    if setting.kind is Kind.FLAG and word in _TRUE | _FALSE:
        return word in _TRUE
    if setting.kind is Kind.NUMBER and word.isdecimal() and word.isascii() and len(word) <= _DIGITS:
        return int(word)
    if setting.kind is Kind.MONEY and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", word):
        return float(word)
    if setting.kind in _LISTS:
        return _listed(text)
    return text


def _listed(text: str) -> object:
    # A glob may contain a comma or start with a bracket; the TOML form is for those.
    if text.lstrip().startswith("["):
        try:
            return tomllib.loads(f"it = {text}")["it"]
        except (tomllib.TOMLDecodeError, RecursionError):
            pass
    return [part.strip() for part in text.split(",") if part.strip()]


def accepted(setting: Setting) -> str:
    """Return the values that a setting accepts, in words."""
    return _fit(setting, None)[1]


def _fit(setting: Setting, raw: object) -> tuple[Value | None, str]:
    match setting.kind:
        case Kind.FLAG:
            return (raw if isinstance(raw, bool) else None), "true or false"
        case Kind.NUMBER:
            wanted = f"a number from {setting.least} to {setting.most}"
            return (raw if _is_number(raw, setting) else None), wanted
        case Kind.MONEY:
            return _dollars(raw, setting), f"an amount of dollars from {setting.least} to {setting.most}"
        case Kind.CHOICE:
            return (raw if isinstance(raw, str) and raw in setting.choices else None), ", ".join(
                setting.choices
            )
        case Kind.TEXT:
            return (raw if isinstance(raw, str) and raw.isprintable() else None), "one line of text"
        case Kind.FOLDER:
            return (raw if isinstance(raw, str) and _is_inside(raw) else None), "a path inside the repository"
        case Kind.GLOBS:
            return _strings(raw, lambda _: True), "a list of globs"
        case Kind.CHOICES:
            return _strings(raw, setting.choices.__contains__), f"a list of {', '.join(setting.choices)}"
        case Kind.HOURS:
            is_written = isinstance(raw, str) and (not raw or hours_in(raw) is not None)
            return (raw if isinstance(raw, str) and is_written else None), "hours, as in 22:00-07:00"
        case Kind.SUITES:
            return _suites(raw), "tables with folder and command, and perhaps setup and counts"
        case Kind.SERVICES:
            known = ", ".join(BUILT_IN_SERVICES)
            return _services(raw), f"a list of {known}, or tables with name, command and ready (a port)"
        case Kind.NAMES:
            return _strings(raw, _VARIABLE.fullmatch), "a list of names of variables"
        case Kind.HOSTS:
            wanted = "a list of hosts, as in docs.example.com, *.example.com or 127.0.0.1:4000"
            return _strings(raw, _HOST.fullmatch), wanted
        case Kind.PATHS:
            wanted = "a list of paths that begin with / or ~/ and name more than a top folder"
            return _strings(raw, _PATH.fullmatch), wanted
        case _:
            assert_never(setting.kind)


def _suites(raw: object) -> tuple[SuiteTable, ...] | None:
    if not isinstance(raw, list | tuple):
        return None
    found = [row if isinstance(row, SuiteTable) else _suite(row) for row in raw]
    return None if None in found else tuple(table for table in found if table is not None)


def _suite(raw: object) -> SuiteTable | None:
    if not isinstance(raw, dict) or not {"command"} <= raw.keys() <= {*SuiteTable._fields}:
        return None
    if not all(isinstance(value, str) and value.isprintable() for value in raw.values()):
        return None
    table = SuiteTable(**{"folder": "", **raw})
    is_right = table.command.strip() and table.counts in ("tests", "exit-code")
    return table if is_right and (not table.folder or _is_inside(table.folder)) else None


def _services(raw: object) -> tuple[ServiceTable, ...] | None:
    found = [_service(row) for row in raw] if isinstance(raw, list) else [None]
    whole = tuple(table for table in found if table is not None)
    return whole if len({table.name for table in whole}) == len(found) else None


def _service(raw: object) -> ServiceTable | None:
    if isinstance(raw, str):
        return ServiceTable(raw) if raw in BUILT_IN_SERVICES else None
    match raw:
        case {"name": str(name), "command": str(command), "ready": int(port), **rest} if not rest:
            is_right = _VARIABLE.fullmatch(name) and command.strip() and command.isprintable()
            return ServiceTable(name, command, port) if is_right and 0 < port <= _LAST_PORT else None
        case _:
            return None


def _is_number(raw: object, setting: Setting) -> TypeGuard[int]:
    return isinstance(raw, int) and not isinstance(raw, bool) and setting.least <= raw <= setting.most


def _dollars(raw: object, setting: Setting) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    return float(raw) if setting.least <= raw <= setting.most else None


def _is_inside(text: str) -> bool:
    parts = PurePosixPath(text)
    return bool(text.strip()) and text.isprintable() and not parts.is_absolute() and ".." not in parts.parts


def _strings(raw: object, fits: Callable[[str], object]) -> tuple[str, ...] | None:
    """Return a list of printable texts that all fit; None if it is none."""
    texts: Sequence[Any] = raw if isinstance(raw, list | tuple) else (None,)
    are_right = all(isinstance(text, str) and text and text.isprintable() and fits(text) for text in texts)
    return tuple(texts) if are_right else None
