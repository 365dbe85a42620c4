"""Check before a run starts that the user has granted what the repository requests.

A repository requests variables in its settings, and programs in the configuration of its git folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import structs

from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.settings_files import edit
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import GateStopped
from asbuilt.git.repository import open_repository
from asbuilt.settings import load, setting_named, user_place
from asbuilt.settings.granted_variables import GRANTED, asked, without_value

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions

_PROGRAMS: Final = "landing.programs"


def need_grants(door: Door, options: RunOptions, *, needs_values: bool = True) -> RunOptions:
    """Ask for every missing grant; `needs_values` False: the worker has the values of the variables."""
    granted = need_programs(door, options)
    need_variables(door, options, needs_values=needs_values)
    return granted


def need_programs(door: Door, options: RunOptions) -> RunOptions:
    """Ask once whether git may start the programs of the repository's settings; return options with them."""
    root = Path(options.checkout)
    settings = load(repository=root, environ=door.environ)
    granted = settings.globs(_PROGRAMS)
    programs = open_repository(root, agreed=granted).programs
    if not programs.are_asked:
        return structs.replace(options, programs=tuple(granted))
    rows = [printable(f"{key} = {value}") for key, value in programs.named]
    may_ask = door.is_attended and not options.auto
    if may_ask:
        door.screen.talk("This repository's own git settings (.git/config and its includes) name programs:")
        for row in rows:
            door.screen.talk(f"  {row}")
    if not may_ask or not agreed(door, "May git start them here?"):
        raise GateStopped(
            "this repository's own git settings name programs, and you have not agreed to them",
            why=f"Git would start them as you: {'; '.join(rows)}. An agreement holds for this folder, these"
            " settings and the contents of its files that they name.",
            next_step=f"`asbuilt config set {_PROGRAMS} +{programs.digest}`",
        )
    edit(user_place(door.environ), setting_named(_PROGRAMS), (*granted, programs.digest), None)
    return structs.replace(options, programs=(*granted, programs.digest))


def need_variables(door: Door, options: RunOptions, *, needs_values: bool = True) -> None:
    """Ask once for a missing grant. Unattended, raise `GateStopped` with the command that grants it."""
    if not options.env or not (options.env.checks or options.env.setup):
        return
    root = Path(options.checkout)
    settings = load(repository=root, environ=door.environ)
    wanted = asked(settings, root)
    if wanted is not None:
        names, is_one = ", ".join(wanted.names), len(wanted.names) == 1
        question = f"Give {names} to the checks or the setup of this repository?"
        if options.auto or not door.is_attended or not agreed(door, question):
            raise GateStopped(
                f"this repository asks for the variable{'' if is_one else 's'} {names}, which you have not"
                " granted",
                why="Its checks and its setup could read the value, and so could code that an agent wrote."
                " A grant holds for this folder and these names.",
                next_step=f"`asbuilt config set {GRANTED} +{wanted.digest}`",
            )
        edit(
            user_place(door.environ), setting_named(GRANTED), (*settings.globs(GRANTED), wanted.digest), None
        )
    missing = without_value(settings, door.environ) if needs_values else ()
    if missing:
        key, _, name = missing[0].rpartition(".")
        raise GateStopped(
            f"the variable {name} has no value",
            why=f"{key} names it, and neither your settings nor the environment of this command have it.",
            next_step=f'`asbuilt config set {missing[0]} "<value>"`',
        )
