"""Run a process in the ring, and find out by running which ring this machine has.

The one rule: a ring is believed in only after it has refused a write and a connection, in this very process.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents import landlock
from asbuilt.agents.refusals import Refusal, knobs_here, why_bubblewrap, why_landlock
from asbuilt.policy.landlock import rules
from asbuilt.policy.ring import (
    DEFAULT_PATH,
    PRIVATE_TMP,
    RUN_KEPT,
    SOCKET_FOLDERS,
    Overlay,
    Placed,
    Request,
    bubblewrap,
    environment_in,
    for_planning,
    secrets,
)
from asbuilt.policy.seatbelt import seatbelt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.policy.ring import Level

_HERE: Final = Path(__file__).resolve().parent
_PROBE_TIMEOUT_S: Final = 20
_AGAIN_S: Final = 10.0
_SANDBOX_EXEC: Final = "/usr/bin/sandbox-exec"
_OVERLAID: Final[set[int]] = set()
_CANARY: Final = """\
import os, socket, sys
held, free, port = sys.argv[1:-2], sys.argv[-2], int(sys.argv[-1])
for path in held:
    try:
        open(path, "w").close()
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", port), 2).close()
except OSError:
    pass
print("the canary sang")
try:
    open(free, "w").close()
except OSError:
    pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """Which ring holds here, and why the better ones do not."""

    level: Level
    version: str = ""
    reasons: tuple[Refusal, ...] = ()

    @property
    def for_work(self) -> Level:
        """The ring for agents and checks: Landlock holds planning commands only."""
        return "none" if self.level == "landlock" else self.level


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A command line with its ring around it, ready to be started by whoever waits for it."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    cwd: str


_last: list[tuple[float, Probed]] = []
"""What the last probe of this process found, and when."""


def probe() -> Probed:
    """Find the best ring by trying.

    A ring that holds agents is kept for the life of the process. Where none did, the next call after 10 s
    tries again: a busy machine, a missing package or a setting of the kernel may have been the cause.
    """
    now = time.monotonic()
    if not _last or (_last[0][1].for_work == "none" and now - _last[0][0] >= _AGAIN_S):
        _last[:] = [(now, _probed())]
    return _last[0][1]


def _probed() -> Probed:
    if sys.platform == "darwin":
        refused = _tried("seatbelt", None)
        return Probed(level="seatbelt") if refused is None else Probed(level="none", reasons=(refused,))
    refused = _tried("bwrap", found_bubblewrap())
    if refused is None:
        return Probed(level="bwrap", version=_version())
    also_refused = _tried("landlock", None)
    if also_refused is None:
        return Probed(level="landlock", version=f"ABI {landlock.abi()}", reasons=(refused,))
    return Probed(level="none", reasons=(refused, also_refused))


def can_overlay(folder: Path) -> bool:
    """Report whether an overlay can be made of folders on this one's file system, by making one.

    A success is remembered for the file system; a failure is tried again, because it may have passed.
    """
    device = folder.stat().st_dev
    if device not in _OVERLAID and _overlays_in(folder):
        _OVERLAID.add(device)
    return device in _OVERLAID


def _overlays_in(folder: Path) -> bool:
    with tempfile.TemporaryDirectory(prefix=".overlay-", dir=folder) as name:
        lower, upper, work, point = (Path(name, part) for part in ("lower", "upper", "work", "point"))
        for path in (lower, upper, work, point):
            path.mkdir()
        (lower / "shown").touch()
        view = Overlay(lower=(str(lower),), upper=str(upper), work=str(work), point=str(point))
        request = Request(
            chdir="/",
            readable=runtime_folders(),
            overlays=(view,),
            placed=(Placed(view.point, f"{PRIVATE_TMP}/view"),),
        )
        script = f"cd {PRIVATE_TMP}/view && rm shown && echo written > also && echo laid"
        said = _output("bwrap", request, ["/bin/sh", "-c", script])
        return said == "laid" and (lower / "shown").is_file() and (upper / "also").is_file()


def prepare(level: Level, request: Request, argv: Sequence[str], *, status_fd: int | None = None) -> Prepared:
    """Put the ring and the guard around a command line.

    The thread that starts it must live as long as the command: to the kernel, that thread is the parent.
    """
    environment = environment_in(request)
    cwd = "/"
    if level == "bwrap":
        mode = "exec"
        program = found_bubblewrap() or "bwrap"
        held = bubblewrap(request, argv, program=program, status_fd=status_fd)
    else:
        # No mount stands in for /tmp here, so its own folder is named instead.
        tmp = request.tmp or PRIVATE_TMP
        environment |= {"TMPDIR": tmp, "HOME": request.home or tmp}
        mode, held, cwd = "stay", without_mounts(level, request, argv), request.chdir
    laid = [word for one in request.overlays for word in (one.point, one.options)]
    guard = [sys.executable, "-I", "-S", str(_HERE / "guard.py"), str(os.getpid()), mode, *laid, "--"]
    return Prepared(argv=(*guard, *held), environment=environment, cwd=cwd)


def launch(
    level: Level, request: Request, argv: Sequence[str], *, status_fd: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in the ring: stdin closed, stdout and stderr in one pipe, a session of its own."""
    prepared = prepare(level, request, argv, status_fd=status_fd)
    return subprocess.Popen(  # noqa: S603  list argv; what may be run is the caller's to decide
        prepared.argv,
        env=prepared.environment,
        cwd=prepared.cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
        pass_fds=() if status_fd is None else (status_fd,),
    )


def settle(request: Request, *, homes: Iterable[Path], hidden: Iterable[Path] = ()) -> Request:
    """Make a request true on this machine: real paths, only what is there, secrets and sockets hidden.

    A mask on a link would leave what it points to in the open, and a mask on nothing cannot be put up.
    """
    folders, files = [*SOCKET_FOLDERS, *map(str, hidden), *request.hidden], [*request.hidden_files]
    for home in homes:
        more_folders, more_files = secrets(str(home))
        folders += more_folders
        files += more_files
    found = _there([*folders, *files])
    return request.changed(
        chdir=os.path.realpath(request.chdir),
        writable=_there(request.writable),
        read_only=tuple(path for path in _there(request.read_only) if path not in _there(request.writable)),
        readable=_there((*request.readable, *runtime_folders(), *RUN_KEPT)),
        hidden=tuple(path for path in found if Path(path).is_dir()),
        hidden_files=tuple(path for path in found if not Path(path).is_dir()),
    )


def runtime_folders() -> tuple[str, ...]:
    """Name what our own programs in the ring need: Python, and this package."""
    return (sys.base_prefix, sys.prefix, str(_HERE.parent))


def found_bubblewrap() -> str | None:
    """Find the program; that it is there says nothing yet."""
    return shutil.which("bwrap", path=f"{os.environ.get('PATH', '')}:{DEFAULT_PATH}")


def _there(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.exists(path)))  # noqa: PTH110


def without_mounts(level: Level, request: Request, argv: Sequence[str]) -> list[str]:
    """Write a command line with a ring that needs no mounts: the kernel binds the process itself."""
    if level == "seatbelt":
        return seatbelt(request, argv, program=_SANDBOX_EXEC)
    if level == "landlock":
        data = rules(request, abi=landlock.abi())
        text = json.dumps(
            {"files": data.files, "network": data.network, "scopes": data.scopes, "paths": data.paths}
        )
        return [sys.executable, "-I", "-S", str(_HERE / "landlock.py"), text, "--", *argv]
    return [*argv]


def _tried(level: Level, program: str | None) -> Refusal | None:
    if level == "bwrap" and program is None:
        return why_bubblewrap("", knobs_here(), there=False)
    if level == "landlock" and not landlock.abi():
        return why_landlock("")
    with (
        tempfile.TemporaryDirectory(prefix="asbuilt-probe-") as name,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        server.setblocking(False)
        folder = Path(os.path.realpath(name))
        (folder / "held").mkdir()
        (folder / "free").mkdir()
        canaries = [folder / "held" / "canary", Path.home() / f".{folder.name}"]
        request = for_planning(cwd=str(folder / "held"), readable=runtime_folders())
        if level == "bwrap":
            request = request.changed(writable=(str(folder / "free"),))
        port = str(server.getsockname()[1])
        script = [
            sys.executable,
            "-I",
            "-S",
            "-c",
            _CANARY,
            *map(str, canaries),
            str(folder / "free" / "bird"),
            port,
        ]
        said = _output(level, request, script)
        wrote = [path for path in canaries if path.exists()]
        for path in wrote:
            path.unlink()
        connected = _was_called(server)
        sang = "the canary sang" in said and (level != "bwrap" or (folder / "free" / "bird").exists())
    if sang and not wrote and not connected:
        return None
    if sang:
        said = "it ran, and let a write or a connection through"
    return why_landlock(said) if level == "landlock" else why_bubblewrap(said, knobs_here(), there=True)


def _output(level: Level, request: Request, argv: Sequence[str]) -> str:
    try:
        with launch(level, request, argv) as process:
            try:
                output, _ = process.communicate(timeout=_PROBE_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                return "it did not answer in time"
    except OSError as error:
        return str(error)
    return output.decode("utf-8", "replace").strip()


def _was_called(server: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        server.accept()[0].close()
        return True
    return False


def _version() -> str:
    argv = [found_bubblewrap() or "bwrap", "--version"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603  the same
    return done.stdout.strip().rpartition(" ")[2]
