"""`asbuilt config set`: change one value in a settings file.

Its one rule: everything else in the file, comments too, stays as it is, or nothing is written.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final

import click
import tomlkit

from asbuilt.cli.commands import Command
from asbuilt.cli.config.show import complete_key, words
from asbuilt.cli.options import Door, shared
from asbuilt.cli.screen import printable
from asbuilt.errors import NotFound, SettingInvalid, SettingsNotWritten
from asbuilt.library.repository import Repository, find_repository
from asbuilt.library.writing import create, replace
from asbuilt.plan.source import digest
from asbuilt.session.tools import keep_listed
from asbuilt.settings import (
    Chosen,
    Place,
    Setting,
    Value,
    bytes_of,
    decoded,
    from_text,
    repository_place,
    setting_named,
    survey,
    table_of,
    user_place,
)

if TYPE_CHECKING:
    from asbuilt.cli.screen import Screen

_USER: Final = "user"
_REPOSITORY: Final = "repository"


@click.command(
    "set",
    cls=Command,
    examples=[
        ("asbuilt config set plans.folder docs/plans", "for yourself, everywhere"),
        ("asbuilt config set plans.folder docs/plans --in repository", "for everybody here"),
        ("asbuilt config set ui.patterns 'web/**, *.css'", "a list: commas between"),
    ],
)
@click.argument("key", shell_complete=complete_key)
@click.argument("value")
@click.option(
    "--in",
    "target",
    type=click.Choice([_USER, _REPOSITORY]),
    default=_USER,
    help="your own file, or the one that everybody who works on this repository gets",
)
@shared(json=False)
def command(door: Door, key: str, value: str, target: str) -> None:
    """Change one value in a settings file; comments in it stay."""
    setting = setting_named(key)
    takes = f"`asbuilt config show {setting.key}` says what it takes."
    wanted = from_text(setting, value, where="", next_step=takes)
    repository = find_repository(door.start)
    place = user_place(door.environ) if target == _USER else _place_in(repository, setting)
    before = _chosen(door, repository, setting)
    if before.origin.locked:
        raise SettingInvalid(
            f"{setting.key} is locked to {words(before.value)} by {before.origin.where}",
            why="Whoever keeps that file decided it for everybody on this machine.",
            next_step="Leave it, or ask them.",
        )
    content = bytes_of(place)
    text = decoded(place, content or b"")
    changed = _with_value(place, text, setting, wanted)
    if changed != text:
        _write(place, content, changed, repository if target == _REPOSITORY else None)
    if setting.key == "planning.tools":
        tools = _chosen(door, repository, setting).value
        keep_listed(door.environ, tools if isinstance(tools, tuple) else (), made_of=str(place.file))
    state = "is now" if changed != text else "was already"
    door.screen.answer(f"{setting.key} {state} {words(wanted)} in {printable(place.name)}")
    _warn(door.screen, setting, place, _chosen(door, repository, setting))


def _place_in(repository: Repository | None, setting: Setting) -> Place:
    if repository is None:
        raise NotFound(
            "no repository here",
            why="--in repository writes into the file that a repository carries.",
            next_step="Name one with --repo DIR, or leave --in out to set it for yourself.",
        )
    if not setting.repository_may_set:
        raise SettingInvalid(
            f"a repository may not set {setting.key}",
            why=f"A repository is text that others write, and this is yours to choose. {setting.stakes}",
            next_step="Leave --in out to set it for yourself.",
        )
    return repository_place(repository.root)


def _chosen(door: Door, repository: Repository | None, setting: Setting) -> Chosen:
    # Problems of other keys are no reason to refuse: this command is how they are repaired.
    settings, _ = survey(repository=repository.root if repository else None, environ=door.environ)
    return settings.of(setting)


def _warn(screen: Screen, setting: Setting, place: Place, now: Chosen) -> None:
    note = screen.err.symbols.note
    if now.origin.name != place.name:
        where, value = printable(now.origin.where), words(now.value)
        screen.talk(f"{note} {where} stands above it: {setting.key} stays {value} here.")
    if setting.read_by is None:
        screen.talk(f"{note} No command reads {setting.key} yet.")


def _with_value(place: Place, text: str, setting: Setting, value: Value) -> str:
    raw = list(value) if isinstance(value, tuple) else value
    table_of(place, text)  # names the line where it is no TOML
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


def _put(table: Any, place: Place, key: str, raw: object) -> None:  # noqa: ANN401 - a dict, or tomlkit's own
    for step in place.table:
        table = table[step]
    *sections, name = key.split(".")
    alias = next((alias for alias, meant in place.aliases.items() if meant == key and alias in table), None)
    if alias is None:
        for section in sections:
            table = table.setdefault(section, {})
        table[name] = raw
    else:
        table[alias] = raw


def _not_edited(place: Place, setting: Setting, value: Value) -> SettingsNotWritten:
    return SettingsNotWritten(
        f"{place.name} cannot be edited safely; it stays as it was",
        why="It is written in a way that this command would change beyond one value.",
        next_step=f"Edit it by hand: set {setting.key} to {words(value)}.",
    )


def _write(place: Place, before: bytes | None, after: str, repository: Repository | None) -> None:
    # A user's link is followed, so that settings kept elsewhere and linked to stay linked.
    if repository is not None and not place.file.resolve().is_relative_to(repository.root.resolve()):
        raise SettingsNotWritten(
            f"{place.name} is a link to a file outside the repository",
            why="A repository could name any file of yours there.",
            next_step="Replace the link by a file.",
        )
    if before is None:
        create(place.file, after.encode(), name=place.name)
    else:
        replace(place.file, after.encode(), expected=digest(before), name=place.name)
