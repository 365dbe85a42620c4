"""Unit files with which systemd or launchd starts the worker. Pure: they depend on the arguments only."""

from __future__ import annotations

import plistlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

UNIT: Final = "asbuilt-worker.service"
LABEL: Final = "asbuilt.worker"
KEPT: Final = (
    "ASBUILT_HOME ASBUILT_ORGANISATION_FILE ASBUILT_USER_FILE XDG_STATE_HOME XDG_CONFIG_HOME PATH"
).split()
"""Variables that give the worker the user's state, settings and programs."""
_BACK_AFTER_S: Final = 15
_MARK: Final = "# Written by `asbuilt worker install`; `asbuilt worker uninstall` removes it."


class Unit(Struct, frozen=True, kw_only=True):
    """A unit file, and the commands that enable and disable it."""

    file: Path
    name: str
    """The file's path with `~`, as shown to the user."""
    text: str
    mark: str
    """Text that every unit file of ours contains."""
    link: Path | None
    """The link that the system creates when the unit is enabled."""
    enable: tuple[tuple[str, ...], ...]
    disable: tuple[tuple[str, ...], ...]
    """Run these while the file still exists."""
    stop: tuple[str, ...]
    """Stops a worker that the system has started, whether or not the file exists."""


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the user's environment that the worker gets."""
    return {name: environ[name] for name in KEPT if environ.get(name)}


def program(argv0: str, *, found: str | None, python: str) -> tuple[str, ...]:
    """Return how this installation of asbuilt is started, with an absolute path.

    A link is not resolved: installers point it at the newest version, and the unit follows.
    """
    if Path(argv0).name == "__main__.py":
        return (python, "-m", "asbuilt")
    return (str(Path(found or argv0).absolute()),)


def systemd(config: Path, home: Path, argv: Sequence[str], given: Mapping[str, str]) -> Unit:
    """Build the systemd user unit below the user's configuration folder."""
    folder = config / "systemd" / "user"
    variables = [f"Environment={_quoted(f'{name}={value}')}" for name, value in given.items()]
    words = [_quoted(word).replace("$", "$$") for word in (*argv, "worker", "--foreground")]
    rows = [
        _MARK,
        "[Unit]",
        "Description=asbuilt worker",
        "",
        "[Service]",
        f"ExecStart={' '.join(words)}",
        *variables,
        "# A worker that finds another one there ends; this one is back before an attempt gives up waiting.",
        "Restart=always",
        f"RestartSec={_BACK_AFTER_S}",
        "# An attempt's own process outlives the worker and is found again by the next one.",
        "KillMode=process",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    ask = ("systemctl", "--user")
    return Unit(
        file=folder / UNIT,
        name=_named(folder / UNIT, home),
        text="\n".join(rows) + "\n",
        mark=_MARK,
        link=folder / "default.target.wants" / UNIT,
        enable=((*ask, "daemon-reload"), (*ask, "enable", "--now", UNIT)),
        disable=((*ask, "disable", "--now", UNIT),),
        stop=(*ask, "stop", UNIT),
    )


def launchd(home: Path, argv: Sequence[str], given: Mapping[str, str]) -> Unit:
    """Build the launchd agent of a user."""
    file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    entries = {
        "Label": LABEL,
        "ProgramArguments": [*argv, "worker", "--foreground"],
        "EnvironmentVariables": dict(given),
        "RunAtLoad": True,
        "KeepAlive": True,
        "ThrottleInterval": _BACK_AFTER_S,
        "AbandonProcessGroup": True,
    }
    return Unit(
        file=file,
        name=_named(file, home),
        text=plistlib.dumps(entries, sort_keys=False).decode(),
        mark=f"<string>{LABEL}</string>",
        link=None,
        enable=(("launchctl", "load", "-w", str(file)),),
        disable=(("launchctl", "unload", "-w", str(file)),),
        stop=("launchctl", "remove", LABEL),
    )


def _named(file: Path, home: Path) -> str:
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)


def _quoted(word: str) -> str:
    """Quote a word as systemd reads it: C escapes in double quotes, and a doubled percent sign."""
    escaped = "".join(_escaped(char) for char in word)
    return f'"{escaped}"' if escaped != word or {" ", "'", ";"} & {*word} or not word else word


def _escaped(char: str) -> str:
    if char < " ":
        return f"\\x{ord(char):02x}"
    return {"\\": "\\\\", '"': '\\"', "%": "%%"}.get(char, char)
