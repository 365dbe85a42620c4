"""`asbuilt config show`: every setting, its value and origin, and invalid settings. Read-only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import click
from click.shell_completion import CompletionItem

from asbuilt.cli.shell.boundary import report_error
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.ui.columns import table
from asbuilt.cli.ui.messages import talk
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, USAGE, SettingInvalid
from asbuilt.library.repository_discovery import find_repository
from asbuilt.settings import (
    NAMED,
    SETTINGS,
    Chosen,
    Setting,
    SuiteTable,
    Table,
    Value,
    accepted,
    presented,
    setting_named,
    survey,
)

_SCHEMA: Final = "asbuilt.config/1"


def complete_key(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete keys, each with its meaning."""
    del context, parameter
    return [
        CompletionItem(setting.key, help=setting.meaning)
        for setting in (*SETTINGS.values(), *NAMED.values())
        if setting.key.startswith(incomplete)
    ]


@subcommand(
    "show",
    ("asbuilt config show", "every setting"),
    ("asbuilt config show --origin", "and the file and line that set it"),
    ("asbuilt config show plans.folder", "the value alone, for a script"),
)
@click.argument("key", required=False, shell_complete=complete_key)
@click.option("--origin", is_flag=True, help="name the file and line that set each value")
def command(door: Door, key: str | None, *, origin: bool) -> int:
    """Show every setting, its value and who set it."""
    named = setting_named(key) if key else None
    repository = find_repository(door.start)
    settings, problems = survey(repository=repository.root if repository else None, environ=door.environ)
    wanted = [named] if named else [setting_named(name) for name in settings.chosen]
    chosen = ((setting, settings.of(setting)) for setting in wanted)
    rows = [(setting, choice._replace(value=presented(setting, choice.value))) for setting, choice in chosen]
    if door.json:
        door.screen.emit_json(_as_json(rows, problems))
    elif key:
        _show_one(door, *rows[0], origin=origin)
    else:
        _show_all(door, rows, origin=origin)
    door.screen.out.flush()
    for problem in problems:
        report_error(door.screen.err, problem)
    return USAGE if problems else DONE


def words(value: Value) -> str:
    """Format a value in one line, also an empty one."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:.10g}"
        case str():
            return printable(value) or '""'
        case tuple():
            return printable(", ".join(map(_part, value))) or "[]"


def _part(value: str | Table) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, SuiteTable):
        return value.command + (f" in {value.folder}" if value.folder else "")
    return value.name + (f" ({value.command})" if value.command else "")


def _show_all(door: Door, rows: Sequence[tuple[Setting, Chosen]], *, origin: bool) -> None:
    cells = [
        (setting.key, words(chosen.value), _set_by(chosen) if origin else "") for setting, chosen in rows
    ]
    head, *drawn = table([("KEY", "VALUE", "SET BY" if origin else ""), *cells])
    shown = [(row, setting.read_by is not None) for row, (setting, _) in zip(drawn, rows, strict=True)]
    door.screen.answer_all((head, *(row for row, is_read in shown if is_read)))
    unread = [row for row, is_read in shown if not is_read]
    if unread:
        door.screen.answer_all(("", "Kept for later; no command reads these yet:", *unread))


def _show_one(door: Door, setting: Setting, chosen: Chosen, *, origin: bool) -> None:
    screen = door.screen
    values = map(_part, chosen.value) if isinstance(chosen.value, tuple) else (_alone(chosen.value),)
    for value in values:
        screen.answer(printable(value) + (f"   {_set_by(chosen)}" if origin else ""))
    may = "a repository may set it" if setting.repository_may_set else "a repository may not set it"
    read = f"read by asbuilt {setting.read_by}" if setting.read_by else "no command reads it yet"
    talk(door, "", f"{setting.key}: {setting.meaning}; it accepts {accepted(setting)}; {may}; {read}.")


def _alone(value: str | float) -> str:
    return value if isinstance(value, str) else words(value)


def _set_by(chosen: Chosen) -> str:
    return printable(chosen.origin.where) + (" (locked)" if chosen.origin.locked else "")


def _as_json(rows: Iterable[tuple[Setting, Chosen]], problems: Iterable[SettingInvalid]) -> dict[str, object]:
    return {
        "schema": _SCHEMA,
        "settings": [
            {
                "key": setting.key,
                "value": chosen.value,
                "origin": {
                    "layer": chosen.origin.layer.value,
                    "name": chosen.origin.name,
                    "line": chosen.origin.line,
                    "locked": chosen.origin.locked,
                },
                "default": setting.default,
                "choices": setting.choices,
                "meaning": setting.meaning,
                "repository_may_set": setting.repository_may_set,
                "read_by": setting.read_by,
            }
            for setting, chosen in rows
        ],
        "problems": [
            {"what": problem.what, "why": problem.why, "next": problem.next_step} for problem in problems
        ],
    }
