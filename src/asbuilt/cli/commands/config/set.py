"""`asbuilt config set` and `unset`: change or remove one value in a settings file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import click

from asbuilt.agents.roster import roster
from asbuilt.cli.commands.config.show import complete_key, words
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.settings_files import chosen_now, edit, file_for, refuse_locked
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import UsageWrong
from asbuilt.library.repository_discovery import find_repository
from asbuilt.session.planning_tools import keep_listed
from asbuilt.settings import Kind, Layer, Setting, Value, from_text, presented, setting_named, survey

_LISTS: Final = (Kind.GLOBS, Kind.NAMES, Kind.CHOICES)
_PLACEHOLDER: Final = re.compile(
    r"(?:^|\s)(?:<[A-Za-z][\w ./-]*>|\.\.\.|…)(?=\s|$)|^(?:COMMAND|MODEL|VALUE|FILE|NAME|URL)$|(?<=/)TOPIC$"
)
"""As hints and the documentation write them."""
_USER: Final = click.option(
    "--user", is_flag=True, help="your own file, for every repository (the default outside one)"
)


@subcommand(
    "set",
    ('asbuilt config set checks.tests "uv run pytest -q"', "for everybody who works here"),
    ("asbuilt config set plans.folder docs/plans --user", "for yourself, everywhere"),
    ("asbuilt config set ui.patterns 'web/**, *.css'", "a list: commas between"),
    ("asbuilt config set checks.env +API_TOKEN", "one more in a list"),
    ("asbuilt config set store.url - --user < url.txt", "read the value from a file"),
    json=False,
)
@click.argument("key", shell_complete=complete_key)
@click.argument("value")
@_USER
def command(door: Door, key: str, value: str, *, user: bool) -> None:
    """Change one value in a settings file; comments in it stay.

    Inside a repository it writes the repository's asbuilt.toml. What a repository may not set, such as agents
    and limits, goes to your own file. The answer names the file.
    """
    setting = setting_named(key)
    value = sys.stdin.readline().strip() if value == "-" else value
    _need_value(setting, value)
    takes = f"`asbuilt config show {setting.key}` lists the values that it accepts."
    added = value.removeprefix("+") if setting.kind in _LISTS else value
    read = from_text(setting, added, where="", next_step=takes)
    if value and (setting.key == "agents.implement" or setting.key.startswith("roles.")):
        settings, _ = survey(repository=_root(door), environ=door.environ)
        roster(settings, door.environ).kind_of(value)
    if added != value and isinstance(read, tuple):
        before = chosen_now(find_repository(door.start), door.environ, setting).value
        whole = dict.fromkeys((*(before if isinstance(before, tuple) else ()), *read))
        read = tuple(element for element in whole if isinstance(element, str))
    _change(door, setting, read, user=user)


@subcommand(
    "unset",
    ("asbuilt config unset checks.tests", "from this repository's asbuilt.toml"),
    ("asbuilt config unset plans.folder --user", "from your own file"),
    json=False,
)
@click.argument("key", shell_complete=complete_key)
@_USER
def unset(door: Door, key: str, *, user: bool) -> None:
    """Remove one value from a settings file: the file that `config set` would write."""
    _change(door, setting_named(key), None, user=user)


def _root(door: Door) -> Path | None:
    repository = find_repository(door.start)
    return repository.root if repository else None


def _need_value(setting: Setting, value: str) -> None:
    found = _PLACEHOLDER.search(value)
    if found is not None:
        raise UsageWrong(
            f'"{found.group().strip()}" is a placeholder, not a value of {setting.key}',
            why="A hint shows it in place of your own value.",
            next_step=f"`asbuilt config show {setting.key}` lists the values that it accepts.",
        )


def _change(door: Door, setting: Setting, value: Value | None, *, user: bool) -> None:
    repository, environ = find_repository(door.start), door.environ
    refuse_locked(chosen_now(repository, environ, setting), setting)
    place = file_for(repository, environ, setting, value, user=user)
    changed = edit(place, setting, value, repository)
    now = chosen_now(repository, environ, setting)
    if setting.key == "planning.tools":
        keep_listed(
            environ,
            tuple(map(str, now.value)) if isinstance(now.value, tuple) else (),
            made_of=str(place.file),
        )
    standing = words(presented(setting, now.value))
    note, where = door.screen.err.symbols.note, printable(now.origin.where)
    if value is None:
        state, above = "is no longer set" if changed else "was not set", f"is {standing}, by {where}"
        is_above = now.origin.layer is not Layer.DEFAULT
    else:
        state = f"{'is now' if changed else 'was already'} {words(presented(setting, value))}"
        above, is_above = f"stays {standing} here, by {where}", now.origin.name != place.name
    door.screen.answer(f"{setting.key} {state} in {printable(place.name)}")
    if is_above:
        door.screen.talk(f"{note} {setting.key} {above}.")
    if setting.read_by == "worker" and changed:
        door.screen.talk(f"{note} A worker that is running reads {setting.key} when it starts the next time.")
    if setting.read_by is None:
        door.screen.talk(f"{note} No command reads {setting.key} yet.")
