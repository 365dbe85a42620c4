"""A temporary repository with its own state folder, and asbuilt's own commands run in it.

The user's journal, worker, checkouts and git settings are neither read nor written.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.messages import IN_SCRATCH
from asbuilt.cli.ui.symbols import ASCII
from asbuilt.errors import GitFailed
from asbuilt.git.command import git_missing

_GONE_WITHIN_S: Final = 15.0
_PASSED: Final = "ASBUILT_ORGANISATION_FILE"
"""An organisation's locked settings also apply in a temporary repository."""


class Scratch:
    """A temporary repository; deleting its folder deletes all of it."""

    def __init__(
        self,
        folder: Path,
        name: str,
        environ: Mapping[str, str],
        own: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Copy the user's environment without `ASBUILT_` and `GIT_` variables, and add `own`."""
        self._folder = folder
        self.checkout = folder / name
        self.state = folder / "state"
        kept = {
            variable: value
            for variable, value in environ.items()
            if not variable.startswith(("ASBUILT_", "GIT_")) or variable == _PASSED
        }
        self.environ: Mapping[str, str] = {
            **kept,
            **own,
            "ASBUILT_HOME": str(self.state),
            "ASBUILT_LANDING_SIGN": "never",
            IN_SCRATCH: "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def build(self, files: Mapping[str, str], *, message: str) -> None:
        """Write the files and commit them."""
        for name, text in files.items():
            file = self.checkout / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for arguments in (
            ("init", "--quiet", "--initial-branch=main"),
            ("config", "user.name", "asbuilt"),
            ("config", "user.email", "asbuilt@example.invalid"),
            ("add", "."),
            ("commit", "--quiet", f"--message={message}"),
        ):
            self.git(*arguments)

    def type(self, door: Door, arguments: Sequence[str], *, json_wanted: bool) -> dict[str, Any]:
        """Run an asbuilt command that writes to the user's terminal; return its JSON, if it wrote any.

        The command ignores Ctrl-C. This process handles it and kills the command: a run in a deleted folder
        cannot be resumed.
        """
        door.screen.talk(f"$ {door.screen.err.bold(shlex.join(('asbuilt', *arguments)))}")
        door.screen.out.flush()
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        process = subprocess.Popen(  # noqa: S603 - our own program
            (sys.executable, "-P", "-m", "asbuilt", *arguments, *_flags(door, json_wanted=json_wanted)),
            cwd=self.checkout,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if json_wanted else None,
            text=True,
        )
        try:
            signal.signal(signal.SIGINT, before)
            output, _ = process.communicate()
        finally:
            process.kill()
            process.wait()
        found: dict[str, Any] = json.loads(output) if output else {}
        return found

    def end_attempts(self) -> None:
        """Stop agents that still work after Ctrl-C; wait 15 s at most."""
        attempts = FolderAttempts(self.state)
        alive = [
            folder.name for folder in self.state.glob("runs/*/attempts/*") if attempts.alive(folder.name)
        ]
        for name in alive:
            attempts.cancel(name)
        until = time.monotonic() + _GONE_WITHIN_S
        while any(map(attempts.alive, alive)) and time.monotonic() < until:
            time.sleep(0.05)

    def delete(self) -> None:
        """Stop agents that still work, and delete the folder; try again for 15 s.

        An agent's host that was starting at Ctrl-C is found only after some files are deleted.
        """
        until = time.monotonic() + _GONE_WITHIN_S
        while self._folder.exists() and time.monotonic() < until:
            self.end_attempts()
            shutil.rmtree(self._folder, ignore_errors=True)

    def git(self, *arguments: str) -> str:
        """Run git without the user's settings, and return its output."""
        try:
            done = subprocess.run(  # noqa: S603
                ("git", *arguments),  # noqa: S607
                cwd=self.checkout,
                env=self.environ,
                check=True,
                capture_output=True,
                text=True,
            )
        except FileNotFoundError as error:
            raise git_missing() from error
        except subprocess.CalledProcessError as error:
            raise GitFailed(
                f"git {arguments[0]}: {error.stderr.strip()}",
                why="A temporary repository could not be made.",
                next_step="`asbuilt doctor` looks at your git.",
            ) from error
        return done.stdout.strip()


def _flags(door: Door, *, json_wanted: bool) -> list[str]:
    screen = door.screen
    wanted = {
        "--json": json_wanted,
        "--plain": screen.err.symbols is ASCII,
        "--no-color": not screen.err.styled,
        "--quiet": screen.quiet,
        "--verbose": screen.verbose,
    }
    return [flag for flag, is_wanted in wanted.items() if is_wanted]
