"""Edit one value in a settings file: choose the file, edit it, and write it.

Everything else in the file, including comments, stays as it is; otherwise nothing is written.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any

import tomlkit

from asbuilt.cli.commands.config.show import words
from asbuilt.errors import SettingInvalid, SettingsNotWritten
from asbuilt.library.atomic_files import create, replace
from asbuilt.library.repository_discovery import Repository
from asbuilt.plan.markdown.source import digest
from asbuilt.settings import Chosen, Place, ServiceTable, Setting, Table, Value, presented, survey, user_place
from asbuilt.settings.files import FOLDER, bytes_of, correcting, decoded, repository_place, table_of


def chosen_now(repository: Repository | None, environ: Mapping[str, str], setting: Setting) -> Chosen:
    """Return the effective value. Problems of other keys do not raise: `set` is how a user repairs them."""
    settings, _ = survey(repository=repository.root if repository else None, environ=environ)
    return settings.of(setting)


def file_for(
    repository: Repository | None,
    environ: Mapping[str, str],
    setting: Setting,
    value: Value | None = None,
    *,
    user: bool = False,
) -> Place:
    """Choose the file of a key: the repository's if it may set the key, else the user's.

    A repository may only tighten some keys. A looser value goes to the user's file, where it takes effect.
    """
    if user or repository is None or not setting.repository_may_set:
        return user_place(environ)
    if setting.tightens and value is not None:
        own = chosen_now(None, environ, setting).value
        if setting.choices.index(str(value)) >= setting.choices.index(str(own)):
            return user_place(environ)
    return repository_place(repository.root)


def edit(place: Place, setting: Setting, value: Value | None, repository: Repository | None) -> bool:
    """Set a value in a file, or remove it (None). Return False if nothing changes."""
    content = bytes_of(place)
    text = decoded(place, content or b"")
    changed = _edited(place, text, setting, value)
    if changed == text:
        return False
    # A link in the user's file is followed, so that settings kept elsewhere stay linked.
    root = repository.root if repository else None
    if place.file.parent == root and not place.file.resolve().is_relative_to(root.resolve()):
        link = quote(place.name)
        raise SettingsNotWritten(
            f"{place.name} is a link to a file outside the repository",
            why="The link could point to any of your files.",
            next_step=f"`cp {link} {link}.new && mv {link}.new {link}` replaces the link by a file.",
        )
    if place.is_users:
        _close(place.file)
    if content is None:
        create(place.file, changed.encode(), name=place.name)
    else:
        replace(place.file, changed.encode(), expected=digest(content), name=place.name)
    if place.is_users:
        _close(place.file)
    return True


def _close(file: Path) -> None:
    """Make the user's settings file private, and its folder if that is ours: URLs may hold credentials."""
    with suppress(OSError):  # if the file cannot be written either, the write reports it
        if file.parent.name == FOLDER:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.parent.chmod(0o700)
        if file.exists():
            file.chmod(0o600)


def refuse_locked(chosen: Chosen, setting: Setting) -> None:
    """Refuse to change what the organisation's file locks."""
    if chosen.origin.locked:
        raise SettingInvalid(
            f"{setting.key} is locked to {words(chosen.value)} by {chosen.origin.where}",
            why="The administrator of this machine locked it.",
            next_step=f"`asbuilt config show {setting.key}`",
        )


def _edited(place: Place, text: str, setting: Setting, value: Value | None) -> str:
    raw: object = value
    if isinstance(value, tuple):
        raw = [element if isinstance(element, str) else _table(element) for element in value]
    table_of(place, text)  # raises with the line number if the text is no TOML
    try:
        document = tomlkit.parse(text)
        expected = tomllib.loads(text)
        for table in (document, expected):
            _put(table, place, setting.key, raw)
        changed = tomlkit.dumps(document) if text else tomlkit.dumps(document).lstrip()
        is_right = tomllib.loads(changed) == expected
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise _not_edited(place, setting, value) from error
    if not is_right:
        raise _not_edited(place, setting, value)
    return changed


def _table(table: Table) -> dict[str, Any] | str:
    """Convert a suite or a service to TOML without its defaults; a known service becomes its name."""
    usual = table._field_defaults | {"folder": ""}
    whole = {name: value for name, value in table._asdict().items() if value != usual.get(name)}
    return table.name if isinstance(table, ServiceTable) and len(whole) == 1 else whole


def _put(table: Any, place: Place, key: str, raw: object) -> None:  # noqa: ANN401 - a dict, or tomlkit's own
    for step in place.table:
        table = table[step]
    *sections, name = key.split(".")
    alias = next((alias for alias, meant in place.aliases.items() if meant == key and alias in table), None)
    if alias is not None:
        sections, name = [], alias
    if raw is None:
        for section in sections:
            table = table.get(section, {})
        table.pop(name, None)
        return
    for section in sections:
        table = table.setdefault(section, {})
    table[name] = raw


def _not_edited(place: Place, setting: Setting, value: Value | None) -> SettingsNotWritten:
    shown = "" if value is None else words(presented(setting, value))
    by_hand = f"set {setting.key} to {shown}" if shown else f"remove {setting.key}"
    return SettingsNotWritten(
        f"{place.name} cannot be edited safely; it stays as it was",
        why="The command would have to change more than this one value.",
        next_step=f"{correcting(place.file)} to {by_hand}",
    )
