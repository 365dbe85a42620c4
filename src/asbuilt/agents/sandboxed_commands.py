"""Run asbuilt's own commands in the sandbox: setup, tests, checks. Implements the port `Processes`.

Rule: when `run` returns or raises, no process of the command is left. Output is cut at the command's cap.
"""

from __future__ import annotations

import json
import os
import pwd
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from asbuilt.agents.sandbox import process_tree
from asbuilt.agents.sandbox.launch import can_overlay, launch, probe, settle
from asbuilt.agents.sandbox.proxy import Egress, egress_for, served
from asbuilt.agents.sandbox.toolchains import Registries, registries, shown_for, variables_in
from asbuilt.agents.streams import Capture
from asbuilt.errors import CommandStopped, SandboxUnavailable
from asbuilt.policy.sandbox.check_environment import PLACED
from asbuilt.policy.sandbox.rules import Level, Request, for_check
from asbuilt.policy.sandbox.services import NOT_STARTED, REFUSAL, Service
from asbuilt.ports import Command, Ended

_PIECE: Final = 1 << 18
_LOOK_S: Final = 0.2
_DRAIN_S: Final = 1.0
_STOP_S: Final = 2.0
"""Grace period in seconds for a command whose run is stopping."""
_FIRST_USER, _NOBODY_UID = 1_000, 65_534
_SERVICES: Final = Path(__file__).resolve().parent / "sandbox" / "services.py"


class SandboxProcesses:
    """Runs commands synchronously, each with its own HOME and tmp."""

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

        `environment` is everything a command gets of our environment; see `policy.sandbox.variables.passed`.
        """
        self._scratch = scratch
        self._environment = environment or {}
        self._hidden = hidden
        self._homes = homes or (Path.home(),)
        self._level = level
        self._grace_s = grace_s
        self._is_over: Callable[[], bool] = lambda: False

    def ending(self, when: Callable[[], bool]) -> SandboxProcesses:
        """Return a copy whose commands end with `CommandStopped` as soon as `when()` is true."""
        same = copy(self)
        same._is_over = when  # noqa: SLF001  a copy of ourselves
        return same

    @property
    def level(self) -> Level:
        """The sandbox in use, as probed."""
        return self._level or probe().for_work

    @property
    def can_place(self) -> bool:
        """Whether a folder can be mounted at another path inside."""
        return self.level == "bwrap"

    def can_overlay(self, folder: Path) -> bool:
        """Return whether overlays work on a folder's file system, by trying one there."""
        return self.can_place and can_overlay(folder)

    def run(self, command: Command) -> Ended:
        """Run a command until it exits or times out; leaves no process behind."""
        environment = {**variables_in(self._homes), **self._environment, **command.environment}
        is_listed = command.network == "list"
        found = registries(environment, self._homes) if is_listed else Registries((), ())
        readable = (*map(str, command.readable), *shown_for(environment, self._homes), *found.readable)
        refused: dict[str, None] = {}
        egress = egress_for(
            self.level,
            command.network,
            (*command.hosts, *found.hosts),
            lambda host, why: refused.update({f"{host}: {why}": None}),
            environment,
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
                    network=egress is None and command.network != "none",
                    environment=environment | (egress.environment if egress else {}),
                    placed=command.placed,
                    overlays=command.overlays,
                ),
                homes=self._homes,
                hidden=self._hidden,
            )
            request = request.changed(user=_plain_user() if command.as_user else None)
            ended = self._run(command, request, egress)
        return replace(ended, output=ended.output + _refusals(refused)) if refused else ended

    def _run(self, command: Command, request: Request, egress: Egress | None) -> Ended:
        level = self.level
        status, theirs = os.pipe()
        began = time.monotonic()
        capture = Capture(command.output_cap)
        try:
            # Through the shell, so that a missing program is exit code 127 in every sandbox.
            is_shell = command.argv[0] == "/bin/sh"
            started = command.argv if is_shell else ("/bin/sh", "-c", 'exec "$@"', "sh", *command.argv)
            argv = attended(command.services, started, PLACED.checkout)
            process = launch(level, request, argv, status_fd=theirs, egress=egress)
        except BaseException:  # closed, and raised again
            os.close(status)
            raise
        finally:
            os.close(theirs)
        with os.fdopen(status, "rb") as status_file, process, served(egress):
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
                _check_started(process.returncode, status_file.read(_PIECE), capture, command.argv)
        code = process.returncode
        return Ended(
            exit_code=(128 - code if code < 0 else code) if in_time else None,
            output=capture.value(),
            truncated=capture.truncated,
            duration_s=time.monotonic() - began,
            sandbox_level=level,
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
    """Read until the output ends and the process exits; return False at the deadline."""
    output = process.stdout
    if output is None:
        raise TypeError("a command in the sandbox was started without a pipe")
    poll = select.poll()
    poll.register(output, select.POLLIN)
    ended_at: float | None = None
    while (left := deadline - time.monotonic()) > 0:
        if is_over():
            raise CommandStopped(
                "the command was ended early",
                why="Its run is stopping.",
                next_step="`asbuilt run` runs it again.",
            )
        if poll.poll(min(left, _LOOK_S) * 1000):
            piece = os.read(output.fileno(), _PIECE)
            if not piece:
                break
            capture.feed(piece)
        elif process.poll() is not None:
            # Without a PID namespace a daemon may have kept the pipe; do not wait for it.
            ended_at = ended_at or time.monotonic()
            if time.monotonic() - ended_at > _DRAIN_S:
                break
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return process.poll() is not None


def attended(services: Iterable[Service], argv: tuple[str, ...], cwd: str) -> tuple[str, ...]:
    """Start services before a command, in the same sandbox."""
    fixed = {"variables": {}, "cwd": cwd, "code": NOT_STARTED}
    data = [
        service._asdict() | fixed | {"refusal": REFUSAL.replace("{name}", service.name)}
        for service in services
    ]
    return (sys.executable, "-I", "-S", str(_SERVICES), json.dumps(data), "--", *argv) if data else argv


def _refusals(refused: Iterable[str]) -> bytes:
    """List the refused hosts after the output: few programs show a proxy's error."""
    lines = "".join(f"asbuilt: the sandbox refused {target}\n" for target in refused)
    return f"\n{lines}asbuilt: `asbuilt config set sandbox.hosts HOST` lets a host through\n".encode()


def _plain_user() -> int | None:
    """Return 1000 if that user exists, else 65534; None if we are not root. Programs look up their user."""
    if os.getuid():
        return None
    return next((account.pw_uid for account in pwd.getpwall() if account.pw_uid == _FIRST_USER), _NOBODY_UID)


def _check_started(code: int, status: bytes, capture: Capture, argv: tuple[str, ...]) -> None:
    """Raise `SandboxUnavailable` if bubblewrap failed before it ran the command.

    bubblewrap reports an exit code only for a command that ran.
    """
    lines = [json.loads(line) for line in status.splitlines() if line.strip()]
    if code < 0 or any("exit-code" in line for line in lines):
        return
    output = capture.value()
    printed = output.decode("utf-8", "replace").strip().splitlines()
    raise SandboxUnavailable(
        f"the sandbox did not start: {printed[-1][:300] if printed else 'it printed nothing'}",
        why="The command was not run at all, so it proves nothing either way.",
        next_step="`asbuilt doctor` tries the sandbox and names what prevents it.",
        argv=argv,
        output=output,
    )


def _removed(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # A command may have removed the permissions of its own folders.
        for path, folders, _ in os.walk(folder):
            for within in (Path(path, name) for name in folders):
                if not within.is_symlink():
                    within.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
