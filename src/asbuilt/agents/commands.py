"""Commands that we run ourselves, in the ring: setup, tests, checks. The port `Processes`.

The one rule: when `run` returns or raises, nothing of the command lives on and no more than the cap was held.
"""

from __future__ import annotations

import json
import os
import pwd
import select
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.capture import Capture
from asbuilt.agents.sandbox import process_tree
from asbuilt.agents.sandbox.launch import can_overlay, launch, probe, settle
from asbuilt.agents.sandbox.package_tools import Registries, registries
from asbuilt.agents.sandbox.proxy import Egress, served
from asbuilt.agents.sandbox.toolchains import shown_for, variables_in
from asbuilt.errors import CommandStopped, RingUnavailable
from asbuilt.policy.sandbox.check_environment import PLACED
from asbuilt.policy.sandbox.hosts import hosts_named
from asbuilt.policy.sandbox.rules import for_check
from asbuilt.policy.sandbox.services import NOT_STARTED, REFUSAL
from asbuilt.ports import Ended

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from asbuilt.policy.sandbox.rules import Level, Request
    from asbuilt.ports import Command

_PIECE: Final = 1 << 18
_LOOK_S: Final = 0.2
_DRAIN_S: Final = 1.0
_STOP_S: Final = 2.0
"""How long a command has to end by itself when its run is to stop."""
_FIRST_USER, _NOBODY = 1_000, 65_534
_SERVICES: Final = Path(__file__).resolve().parent / "sandbox" / "services.py"


class RingProcesses:
    """Runs one command at a time for whoever calls, each in a HOME and a tmp of its own."""

    def __init__(
        self,
        *,
        scratch: Path,
        hidden: tuple[Path, ...] = (),
        homes: tuple[Path, ...] = (),
        environment: Mapping[str, str] | None = None,
        level: Level | None = None,
        grace_s: float = 10,
    ) -> None:
        """Work in `scratch`; hide `hidden` (the state folder) and the secrets below `homes`.

        `environment` is all that gets in of the one around us: `policy.variables.passed` chooses it.
        """
        self._scratch = scratch
        self._environment = environment or {}
        self._hidden = hidden
        self._homes = homes or (Path.home(),)
        self._level = level
        self._grace_s = grace_s
        self._is_over: Callable[[], bool] = lambda: False

    def ending(self, when: Callable[[], bool]) -> RingProcesses:
        """Return the same, whose commands are ended with `CommandStopped` as soon as `when` is true."""
        same = copy(self)
        same._is_over = when  # noqa: SLF001  a copy of ourselves
        return same

    @property
    def level(self) -> Level:
        """The ring that holds it, as probed by running."""
        return self._level or probe().for_work

    @property
    def can_place(self) -> bool:
        """Report whether a folder can have another path inside."""
        return self.level == "bwrap"

    def can_overlay(self, folder: Path) -> bool:
        """Report whether overlays can be made on a folder's file system, as tried there."""
        return self.can_place and can_overlay(folder)

    def run(self, command: Command) -> Ended:
        """Run it to its end or its limit; nothing of it lives on."""
        environment = {**variables_in(self._homes), **self._environment, **command.environment}
        is_listed = command.network == "list"
        found = registries(environment, self._homes) if is_listed else Registries((), ())
        readable = (*map(str, command.readable), *shown_for(environment, self._homes), *found.readable)
        # Only bubblewrap gives a command a network of its own.
        hosts = hosts_named((*command.hosts, *found.hosts))
        refused: dict[str, None] = {}
        egress = (
            Egress(hosts, lambda host, why: refused.update({f"{host}: {why}": None}), environment)
            if is_listed and self.level == "bwrap"
            else None
        )
        with self._own_folder() as own:
            request = settle(
                for_check(
                    cwd=str(command.cwd),
                    home=str(command.home or own / "home"),
                    tmp=str(own / "tmp"),
                    writable=tuple(map(str, command.writable)),
                    readable=readable,
                    hidden=tuple(map(str, command.hidden)),
                    network=command.network == "open" or (is_listed and egress is None),
                    environment=environment | (egress.environment if egress else {}),
                    placed=command.placed,
                    overlays=command.overlays,
                ),
                homes=self._homes,
                hidden=self._hidden,
            )
            request = request.changed(user=_plain_user() if command.as_user else None)
            ended = self._run(command, request, egress)
        return replace(ended, output=ended.output + _told(refused)) if refused else ended

    def _run(self, command: Command, request: Request, egress: Egress | None) -> Ended:
        level = self.level
        status, theirs = os.pipe()
        began = time.monotonic()
        capture = Capture(command.output_cap)
        try:
            argv = _attended(command, _named_when_missing(command.argv))
            process = launch(level, request, argv, status_fd=theirs, egress=egress)
        except BaseException:  # closed, and raised again
            os.close(status)
            raise
        finally:
            os.close(theirs)
        with os.fdopen(status, "rb") as told, process, served(egress):
            try:
                in_time = _collect(process, capture, began + command.timeout_s, self._is_over)
            finally:
                grace_s = min(self._grace_s, _STOP_S) if self._is_over() else self._grace_s
                process_tree.end(
                    process.pid,
                    level=level,
                    grace_s=grace_s if process.poll() is None else 0,
                    gone=lambda: process.poll() is not None,
                )
            if in_time and level == "bwrap":
                _insist_on_the_ring(process.returncode, told.read(_PIECE), capture, command.argv)
        code = process.returncode
        return Ended(
            exit_code=(128 - code if code < 0 else code) if in_time else None,
            output=capture.value(),
            truncated=capture.truncated,
            duration_s=time.monotonic() - began,
            ring=level,
        )

    @contextmanager
    def _own_folder(self) -> Iterator[Path]:
        self._scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        own = Path(tempfile.mkdtemp(prefix="command-", dir=self._scratch))
        try:
            for name in ("home", "tmp"):
                (own / name).mkdir(mode=0o700)
            yield own
        finally:
            _removed(own)


def _collect(
    process: subprocess.Popen[bytes], capture: Capture, deadline: float, is_over: Callable[[], bool]
) -> bool:
    """Read until the output ends and the process with it; False when the time is over first."""
    output = process.stdout
    if output is None:
        raise TypeError("a command in the ring was started without a pipe")
    poll = select.poll()
    poll.register(output, select.POLLIN)
    ended_at: float | None = None
    while (left := deadline - time.monotonic()) > 0:
        if is_over():
            raise CommandStopped(
                "the command was ended before its end",
                why="Its run is to stop.",
                next_step="`asbuilt resume` runs it again.",
            )
        if poll.poll(min(left, _LOOK_S) * 1000):
            piece = os.read(output.fileno(), _PIECE)
            if not piece:
                break
            capture.feed(piece)
        elif process.poll() is not None:
            # Without a namespace somebody may have got away with the pipe; we do not wait for them.
            ended_at = ended_at or time.monotonic()
            if time.monotonic() - ended_at > _DRAIN_S:
                break
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return process.poll() is not None


def _named_when_missing(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Let the shell start it, so that a missing program is exit code 127 in every ring."""
    return argv if argv[0] == "/bin/sh" else ("/bin/sh", "-c", 'exec "$@"', "sh", *argv)


def _attended(command: Command, argv: tuple[str, ...]) -> tuple[str, ...]:
    """Have services started before a command, in the same sandbox."""
    if not command.services:
        return argv
    services = [
        {
            **one._asdict(),
            "variables": {},
            "cwd": PLACED.checkout,
            "refusal": REFUSAL.replace("{name}", one.name),
            "code": NOT_STARTED,
        }
        for one in command.services
    ]
    return (sys.executable, "-I", "-S", str(_SERVICES), json.dumps(services), "--", *argv)


def _told(refused: Iterable[str]) -> bytes:
    """Say behind a command's output which hosts it was refused: few programs show what a proxy answers."""
    lines = "".join(f"asbuilt: the sandbox refused {one}\n" for one in refused)
    return f"\n{lines}asbuilt: `asbuilt config set sandbox.hosts HOST` lets a host through\n".encode()


def _plain_user() -> int | None:
    """Choose a user id other than 0, and one that the user database has: programs look themselves up."""
    if os.getuid():
        return None
    return next((one.pw_uid for one in pwd.getpwall() if one.pw_uid == _FIRST_USER), _NOBODY)


def _insist_on_the_ring(code: int, told: bytes, capture: Capture, argv: tuple[str, ...]) -> None:
    """Tell a failed command from a ring that did not come up: only one that ran has its exit code told."""
    lines = [json.loads(line) for line in told.splitlines() if line.strip()]
    if code < 0 or any("exit-code" in line for line in lines):
        return
    output = capture.value()
    said = output.decode("utf-8", "replace").strip().splitlines()
    raise RingUnavailable(
        f"the sandbox did not start: {said[-1][:300] if said else 'it printed nothing'}",
        why="The command was not run at all, so it proves nothing either way.",
        next_step="`asbuilt doctor` tries the sandbox and names what prevents it.",
        argv=argv,
        output=output,
    )


def _removed(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # A command may have taken the rights from its own folders.
        for path, folders, _ in os.walk(folder):
            for within in (Path(path, name) for name in folders):
                if not within.is_symlink():
                    within.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
