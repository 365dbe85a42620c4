"""See to it that the user has granted the variables for which a repository asks, before a run starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.cli.asking import agreed
from asbuilt.cli.config.files import edit
from asbuilt.errors import GateStopped
from asbuilt.settings import load, setting_named, user_place
from asbuilt.settings.variables import GRANTED, asked, without_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from asbuilt.cli.options import Door


def need_variables(door: Door, options: Mapping[str, Any]) -> None:
    """Ask for a grant that is missing, once in a repository; unattended, stop and name what grants it."""
    if not any(options.get("env", {}).values()):
        return
    root = Path(options["checkout"])
    settings = load(repository=root, environ=door.environ)
    wanted = asked(settings, root)
    if wanted is not None:
        names, is_one = ", ".join(wanted.names), len(wanted.names) == 1
        may_ask = door.may_ask and not door.json and not options.get("auto")
        if not may_ask or not agreed(door, f"Give {names} to the checks or the setup of this repository?"):
            raise GateStopped(
                f"this repository asks for the variable{'' if is_one else 's'} {names}, which you have not"
                " granted",
                why="Its checks and its setup could read the value, and so could code that an agent wrote."
                " A grant holds for this folder and these names.",
                next_step=f"asbuilt config set {GRANTED} +{wanted.digest}",
            )
        edit(
            user_place(door.environ),
            setting_named(GRANTED),
            (*settings.globs(GRANTED), wanted.digest),
            None,
        )
    missing = without_value(settings, door.environ)
    if missing:
        key, _, name = missing[0].rpartition(".")
        raise GateStopped(
            f"the variable {name} has no value",
            why=f"{key} names it, and neither your settings nor the environment of this command have it.",
            next_step=f'asbuilt config set {missing[0]} "<value>"',
        )
