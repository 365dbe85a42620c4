"""`asbuilt worker install` and `uninstall`: start the worker automatically at login.

Rule: only a file of ours is replaced or removed. System commands run only after a yes, or with --yes.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from asbuilt.cli.commands.init.placing import put
from asbuilt.cli.commands.worker import units
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, FAILED, NameTaken
from asbuilt.library.bounded_read import read_bytes
from asbuilt.settings import SETTINGS, config_folder
from asbuilt.settings.user_folders import home_of

_TIMEOUT_S: Final = 60
_STORE: Final = SETTINGS["store.url"].variable


@subcommand(
    "install",
    ("asbuilt worker install", "write the unit, show it, ask to enable it"),
    ("asbuilt worker install --yes", "and enable it without asking"),
)
@click.option("--yes", is_flag=True, help="enable it without asking")
def install(door: Door, *, yes: bool) -> int:
    """Start the worker automatically at login: a systemd user unit, on macOS a launchd agent.

    It stores your current PATH, so that the worker finds the same agent programs.
    """
    unit = _unit(door.environ)
    written = _write(unit)
    code, enabled = DONE, False
    if not door.json:
        _show(door, unit, written=written)
    if _may_call(door, unit, yes=yes, question="Enable and start it now?"):
        enabled = _called(door, unit.enable)
        code = DONE if enabled else FAILED
    commands = [shlex.join(argv) for argv in unit.enable]
    unit_data = {"file": str(unit.file), "written": written, "text": unit.text, "enabled": enabled}
    if door.emitted("asbuilt.worker-install/1", {**unit_data, "next": [] if enabled else commands}):
        return code
    if enabled:
        door.screen.answer("Enabled and started.")
    else:
        _show_commands(door, "Not enabled. To enable and start it:", commands)
    return code


@subcommand("uninstall", ("asbuilt worker uninstall", "stop it, and remove the unit"), json=False)
@click.option("--yes", is_flag=True, help="stop and disable it without asking")
def uninstall(door: Door, *, yes: bool) -> None:
    """Remove the worker's unit. Runs are not lost: the worker starts with the next command."""
    unit = _unit(door.environ)
    name = printable(unit.name)
    if _content(unit) is None:
        door.screen.answer(f"{name} does not exist; nothing to remove.")
        return
    is_done = _may_call(door, unit, yes=yes, question="Stop and disable it now?") and _called(
        door, unit.disable
    )
    unit.file.unlink(missing_ok=True)
    if unit.link is not None and unit.link.is_symlink():
        unit.link.unlink()
    door.screen.answer(f"Removed {name}.")
    if not is_done:
        _show_commands(door, "If it is running, stop it:", [shlex.join(unit.stop)])


def is_installed(environ: Mapping[str, str]) -> bool:
    """Return whether the system starts the worker, also after a restart."""
    unit = _unit(environ)
    return unit.file.exists() and (unit.link is None or unit.link.is_symlink())


def _unit(environ: Mapping[str, str]) -> units.Unit:
    argv = units.program(sys.argv[0], found=shutil.which(sys.argv[0]), python=sys.executable)
    given = units.environment(environ)
    home = home_of(environ)
    if sys.platform == "darwin":
        return units.launchd(home, argv, given)
    return units.systemd(config_folder(environ), home, argv, given)


def _content(unit: units.Unit) -> bytes | None:
    if not unit.file.exists():
        return None
    content = read_bytes(unit.file)
    if unit.mark.encode() not in content:
        raise NameTaken(
            f"{unit.name} exists, and asbuilt did not write it",
            why="Nothing of yours is ever overwritten or removed.",
            next_step=f"`mv {unit.name} {unit.name}.old`, then repeat the command.",
        )
    return content


def _write(unit: units.Unit) -> bool:
    before, after = _content(unit), unit.text.encode("utf-8", "surrogateescape")
    if before != after:
        put(unit.file, after, name=unit.name)
    return before != after


def _show(door: Door, unit: units.Unit, *, written: bool) -> None:
    screen = door.screen
    name = printable(unit.name)
    screen.answer(f"Wrote {name}:" if written else f"{name} exists already, unchanged:")
    for line in unit.text.rstrip("\n").split("\n"):
        screen.answer(f"  {printable(line)}".rstrip())
    if door.environ.get(_STORE):
        words = f"{_STORE} is not in it: it may hold a password. `asbuilt config set store.url URL` keeps it."
        screen.talk_all(screen.err.hanging(f"{screen.err.symbols.note} ", words))


def _show_commands(door: Door, lead: str, commands: list[str]) -> None:
    door.screen.answer(lead)
    for command in commands:
        door.screen.answer(f"  {door.screen.out.bold(command)}")


def _may_call(door: Door, unit: units.Unit, *, yes: bool, question: str) -> bool:
    return _answers(unit, door.environ) and (yes or (not door.json and agreed(door, question)))


def _answers(unit: units.Unit, environ: Mapping[str, str]) -> bool:
    """Return whether the service manager can be called: launchd always, systemd only with a user session."""
    if shutil.which(unit.enable[0][0], path=environ.get("PATH")) is None:
        return False
    runtime = environ.get("XDG_RUNTIME_DIR")
    return unit.link is None or bool(runtime and (Path(runtime) / "systemd" / "private").exists())


def _called(door: Door, commands: tuple[tuple[str, ...], ...]) -> bool:
    for argv in commands:
        try:
            ended = subprocess.run(  # noqa: S603 - the commands that were shown
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
        else:
            if ended.returncode == 0:
                continue
            reason = ended.stderr.decode("utf-8", "replace").strip()
        door.screen.talk(f"{door.screen.err.symbols.failed} {shlex.join(argv)}: {printable(reason)}")
        return False
    return True
