"""Folders of a user: the home, and those for state, settings and files of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from asbuilt.errors import SettingInvalid


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of this user's state. The code that writes to it creates it, with mode 0700."""
    own = environ.get("ASBUILT_HOME")
    if not own:
        return _xdg(environ, "XDG_STATE_HOME", ".local/state") / "asbuilt"
    if not Path(own).is_absolute():
        raise SettingInvalid(
            f'ASBUILT_HOME "{own}" is not an absolute path',
            why="A relative path would name a different folder in every current folder.",
            next_step="`unset ASBUILT_HOME`, or write it from the root.",
        )
    return Path(own)


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for files that asbuilt makes for other programs."""
    return _xdg(environ, "XDG_DATA_HOME", ".local/share") / "asbuilt"


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which programs of this user keep their settings."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the user's home folder; raise `SettingInvalid` if there is none."""
    home = environ.get("HOME")
    if home:
        return Path(home)
    try:
        return Path("~").expanduser()
    except RuntimeError as error:
        raise SettingInvalid(
            "this user has no home folder",
            why="State and settings of a user are kept below it.",
            next_step="`export HOME=/var/tmp/home-$(id -u)`, or set ASBUILT_HOME and XDG_CONFIG_HOME.",
        ) from error


def _xdg(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    # The XDG specification says to ignore relative values.
    chosen = Path(environ.get(variable, ""))
    return chosen if chosen.is_absolute() else home_of(environ) / below_home
