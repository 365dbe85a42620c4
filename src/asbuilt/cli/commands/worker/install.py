"""`asbuilt worker install` and `uninstall`: let the system start the worker.

Rule: only a file of ours is replaced or removed. System commands run only after a yes, or with --yes.
"""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from asbuilt.cli.commands.init.placing import put
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, FAILED, NameTaken
from asbuilt.library.reading import read_bytes
from asbuilt.settings import SETTINGS, config_folder

UNIT: Final = "asbuilt-worker.service"
LABEL: Final = "asbuilt.worker"
KEPT: Final = (
    "ASBUILT_HOME",
    "ASBUILT_ORGANISATION_FILE",
    "ASBUILT_USER_FILE",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "PATH",
)
"""Variables that give the worker the user's state, settings and programs."""
_BACK_AFTER_S: Final = 15
_MARK: Final = "# Written by `asbuilt worker install`; `asbuilt worker uninstall` removes it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
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


_TIMEOUT_S: Final = 60
_STORE: Final = SETTINGS["store.url"].variable


@subcommand(
    "install",
    ("asbuilt worker install", "write the unit, show it, ask to enable it"),
    ("asbuilt worker install --yes", "and enable it without asking"),
)
@click.option("--yes", is_flag=True, help="enable it without asking")
def install(door: Door, *, yes: bool) -> int:
    """Let the system start the worker when you log in: a systemd user unit, on macOS a launchd agent.

    It carries your PATH of now, so that the worker finds the agents that you find.
    """
    unit = _unit(door.environ)
    written = _write(unit)
    code, enabled = DONE, False
    if not door.json:
        _show(door, unit, written=written)
    if _may_tell(door, unit, yes=yes, question="Enable and start it now?"):
        enabled = _told(door, unit.enable)
        code = DONE if enabled else FAILED
    commands = [shlex.join(argv) for argv in unit.enable]
    told = {"file": str(unit.file), "written": written, "text": unit.text, "enabled": enabled}
    if door.emitted("asbuilt.worker-install/1", {**told, "next": [] if enabled else commands}):
        return code
    if enabled:
        door.screen.answer("Enabled and started.")
    else:
        _show_commands(door, "Not enabled. To enable and start it:", commands)
    return code


@subcommand("uninstall", ("asbuilt worker uninstall", "stop it, and take the unit away"), json=False)
@click.option("--yes", is_flag=True, help="stop and disable it without asking")
def uninstall(door: Door, *, yes: bool) -> None:
    """Take the worker's unit away again. Runs are not lost: the worker starts with the next command."""
    unit = _unit(door.environ)
    name = printable(unit.name)
    if _content(unit) is None:
        door.screen.answer(f"{name} is not there; nothing to take away.")
        return
    told = _may_tell(door, unit, yes=yes, question="Stop and disable it now?") and _told(door, unit.disable)
    unit.file.unlink(missing_ok=True)
    if unit.link is not None and unit.link.is_symlink():
        unit.link.unlink()
    door.screen.answer(f"Removed {name}.")
    if not told:
        _show_commands(door, "If it is running, stop it:", [shlex.join(unit.stop)])


def is_installed(environ: Mapping[str, str]) -> bool:
    """Return whether the system starts the worker, also after a restart."""
    unit = _unit(environ)
    return unit.file.exists() and (unit.link is None or unit.link.is_symlink())


def _unit(environ: Mapping[str, str]) -> Unit:
    argv = program(sys.argv[0], found=shutil.which(sys.argv[0]), python=sys.executable)
    given = environment(environ)
    home = Path(environ.get("HOME") or "~").expanduser()
    if sys.platform == "darwin":
        return launchd(home, argv, given)
    return systemd(config_folder(environ), home, argv, given)


def _content(unit: Unit) -> bytes | None:
    """Read the unit file. Raise if it exists and asbuilt did not write it."""
    if not unit.file.exists():
        return None
    content = read_bytes(unit.file)
    if unit.mark.encode() not in content:
        raise NameTaken(
            f"{unit.name} is there, and asbuilt did not write it",
            why="Nothing of yours is ever overwritten or removed.",
            next_step="Move it away, then repeat the command.",
        )
    return content


def _write(unit: Unit) -> bool:
    before, after = _content(unit), unit.text.encode("utf-8", "surrogateescape")
    if before != after:
        put(unit.file, after, name=unit.name)
    return before != after


def _show(door: Door, unit: Unit, *, written: bool) -> None:
    screen = door.screen
    name = printable(unit.name)
    screen.answer(f"Wrote {name}:" if written else f"{name} is there already, unchanged:")
    for line in unit.text.rstrip("\n").split("\n"):
        screen.answer(f"  {printable(line)}".rstrip())
    if door.environ.get(_STORE):
        said = f"{_STORE} is not in it: it may hold a password. `asbuilt config set store.url URL` keeps it."
        screen.talk_all(screen.err.hanging(f"{screen.err.symbols.note} ", said))


def _show_commands(door: Door, lead: str, commands: list[str]) -> None:
    door.screen.answer(lead)
    for command in commands:
        door.screen.answer(f"  {door.screen.out.bold(command)}")


def _may_tell(door: Door, unit: Unit, *, yes: bool, question: str) -> bool:
    return _answers(unit, door.environ) and (yes or (not door.json and agreed(door, question)))


def _answers(unit: Unit, environ: Mapping[str, str]) -> bool:
    """Return whether the service manager can be called: launchd always, systemd only with a user session."""
    if shutil.which(unit.enable[0][0], path=environ.get("PATH")) is None:
        return False
    runtime = environ.get("XDG_RUNTIME_DIR")
    return unit.link is None or bool(runtime and (Path(runtime) / "systemd" / "private").exists())


def _told(door: Door, commands: tuple[tuple[str, ...], ...]) -> bool:
    for argv in commands:
        try:
            ended = subprocess.run(  # noqa: S603 - the commands that were shown
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        else:
            if ended.returncode == 0:
                continue
            said = ended.stderr.decode("utf-8", "replace").strip()
        door.screen.talk(f"{door.screen.err.symbols.failed} {shlex.join(argv)}: {printable(said)}")
        return False
    return True
