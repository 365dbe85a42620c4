"""Run a process in the sandbox, and probe which sandbox works on this machine.

Rule: a sandbox counts as working only after it refused a write and a connection in this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from asbuilt.agents.sandbox import landlock
from asbuilt.agents.sandbox.masks import masks_in
from asbuilt.agents.sandbox.unavailable import Refusal, knobs_here, why_bubblewrap, why_landlock
from asbuilt.policy.sandbox import rules
from asbuilt.policy.sandbox.rules import Level
from asbuilt.policy.sandbox.seccomp import MACHINES, seccomp_filter

if TYPE_CHECKING:
    from asbuilt.agents.sandbox.proxy import Egress

_HERE: Final = Path(__file__).resolve().parent
_PROBE_TIMEOUT_S: Final = 20
_AGAIN_S: Final = 10.0
_SANDBOX_EXEC: Final = "/usr/bin/sandbox-exec"
_OVERLAID: Final[set[int]] = set()
_MAY_SIGN_IN: Final = ("/usr/local/etc", "/etc/maven", "/etc/R", "/etc/php")
"""System paths that are shown and may contain logins of the machine's owner."""
_SOURCES: Final = "/usr/local/src"
"""A folder below a shown one, where users keep repositories."""
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


class Probed(Struct, frozen=True, kw_only=True):
    """The sandbox that works here, and why the better ones do not."""

    level: Level
    version: str = ""
    reasons: tuple[Refusal, ...] = ()

    @property
    def for_work(self) -> Level:
        """The sandbox for agents and checks: Landlock is for planning commands only."""
        return "none" if self.level == "landlock" else self.level


class Prepared(Struct, frozen=True, kw_only=True):
    """A sandboxed command line, ready to start."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    cwd: str
    descriptors: tuple[int, ...] = ()
    """Descriptors that the command inherits; call `close` once it has started."""

    async def spawn(self, *, stdin: int, inherited: tuple[int, ...] = ()) -> asyncio.subprocess.Process:
        """Start it, with pipes for stdout and stderr, in a session of its own; closes the descriptors."""
        try:
            return await asyncio.create_subprocess_exec(
                *self.argv,
                env=self.environment,
                cwd=self.cwd,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                pass_fds=(*self.descriptors, *inherited),
            )
        finally:
            self.close()

    def close(self) -> None:
        """Close our copies of the descriptors."""
        for descriptor in self.descriptors:
            os.close(descriptor)


_last: list[tuple[float, Probed]] = []
"""Time and result of this process's last probe."""


def probe() -> Probed:
    """Return the best sandbox, by trying.

    A working sandbox is cached for the life of the process. If there is none, the next call after 10 s tries
    again: the cause may have been a busy machine, a missing package or a kernel setting.
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
    """Return whether overlays work on a folder's file system, by making one.

    Caches success per file system; a failure is tried again, because its cause may have passed.
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
        view = rules.Overlay(lower=(str(lower),), upper=str(upper), work=str(work), point=str(point))
        asked = rules.Request(
            chdir="/", overlays=(view,), placed=(rules.Placed(view.point, f"{rules.PRIVATE_TMP}/view"),)
        )
        request = settle(asked, homes=())
        script = f"cd {rules.PRIVATE_TMP}/view && rm shown && echo written > also && echo laid"
        output, _ = _output("bwrap", request, ["/bin/sh", "-c", script])
        return output == "laid" and (lower / "shown").is_file() and (upper / "also").is_file()


def prepare(
    level: Level, request: rules.Request, argv: Sequence[str], *, status_fd: int | None = None
) -> Prepared:
    """Wrap a command line in the sandbox and the guard.

    The thread that starts it must live as long as the command: the kernel regards that thread as the parent.
    Checks the masks again: a mask cannot be mounted on a file that was deleted since.
    """
    request = request.changed(hidden=_left(request.hidden), hidden_files=_left(request.hidden_files))
    environment = rules.environment_in(request)
    cwd = "/"
    descriptors: tuple[int, ...] = ()
    if level == "bwrap":
        mode = "exec"
        program = found_bubblewrap() or "bwrap"
        descriptors = open_filter()
        filter_fd = next(iter(descriptors), None)
        held = rules.bubblewrap(request, argv, program=program, status_fd=status_fd, filter_fd=filter_fd)
    else:
        # Nothing is mounted on /tmp here, so the variables name the folder.
        tmp = request.tmp or rules.PRIVATE_TMP
        environment |= {"TMPDIR": tmp, "HOME": request.home or tmp}
        mode, held, cwd = "stay", without_mounts(level, request, argv), request.chdir
    laid = [word for overlay in request.overlays for word in (overlay.point, overlay.options)]
    guard = [sys.executable, "-I", "-S", str(_HERE / "guard.py"), str(os.getpid()), mode, *laid, "--"]
    return Prepared(argv=(*guard, *held), environment=environment, cwd=cwd, descriptors=descriptors)


def open_filter() -> tuple[int, ...]:
    """Open a memfd with the seccomp filter; empty on an architecture that the filter does not support."""
    if platform.machine() not in MACHINES:
        return ()
    made = os.memfd_create("asbuilt-seccomp", 0)
    os.write(made, seccomp_filter())
    os.lseek(made, 0, os.SEEK_SET)
    return (made,)


def launch(
    level: Level,
    request: rules.Request,
    argv: Sequence[str],
    *,
    status_fd: int | None = None,
    egress: Egress | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command in the sandbox: no stdin, stdout and stderr in one pipe, a session of its own."""
    prepared = prepare(level, request, egress.argv(argv) if egress else argv, status_fd=status_fd)
    given = (status_fd, egress.descriptor if egress else None)
    inherited = tuple(number for number in given if number is not None)
    try:
        return subprocess.Popen(  # noqa: S603  list argv; what may be run is the caller's to decide
            prepared.argv,
            env=prepared.environment,
            cwd=prepared.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            pass_fds=(*prepared.descriptors, *inherited),
        )
    finally:
        prepared.close()


def settle(request: rules.Request, *, homes: Iterable[Path], hidden: Iterable[Path] = ()) -> rules.Request:
    """Resolve a request on this machine: add the system's paths, follow symlinks, drop missing paths.

    Masks `hidden` and the known secrets below `homes` where a shown folder contains them. A mask on a symlink
    would leave its target visible, and a mask on a missing path cannot be mounted.
    """
    links, system = _system()
    writable = _there(request.writable)
    readable = _there((*request.readable, *runtime_folders(), *rules.RUN_KEPT))
    secret = [path for home in homes for group in rules.secrets(str(home)) for path in group]
    masked = _there(
        [
            *map(str, hidden),
            *secret,
            *request.hidden,
            *request.hidden_files,
            *masks_in((*readable, *_MAY_SIGN_IN)),
            _SOURCES,
        ]
    )
    found = below(masked, (*writable, *readable, *_MAY_SIGN_IN, _SOURCES))
    # A path that is a symlink to a shown one is shown as well, unless the link itself is in a shown folder.
    aliases = [path for path in request.readable if path not in readable and os.path.exists(path)]  # noqa: PTH110
    also = [path for path in aliases if not below([path], (*system, *writable, *readable))]
    return request.changed(
        chdir=os.path.realpath(request.chdir),
        writable=writable,
        read_only=tuple(path for path in _there(request.read_only) if path not in writable),
        readable=(*system, *readable, *dict.fromkeys(also)),
        hidden=tuple(path for path in found if Path(path).is_dir()),
        hidden_files=tuple(path for path in found if not Path(path).is_dir()),
        links=links,
    )


def below(paths: Iterable[str], folders: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that equal or are below any of the folders."""
    around = tuple(folders)
    return tuple(
        path
        for path in paths
        if any(path == place or path.startswith(f"{place.rstrip('/')}/") for place in around)
    )


@cache
def _system() -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    links = tuple((path, str(Path(path).readlink())) for path in rules.SYSTEM if Path(path).is_symlink())
    settings = (file for name in rules.SETTINGS for file in sorted(Path("/etc").glob(name)))
    linked = {path for path, _ in links}
    found = [
        *(Path(path) for path in rules.SYSTEM if path not in linked),
        *settings,
        *map(Path, rules.KERNEL),
    ]
    return links, tuple(str(path) for path in found if path.exists())


def history_of(workspace: Path) -> tuple[str, ...]:
    """Return the git folders of a linked worktree, so that its history can be read.

    Nothing else of the repository is shown: the user's own checkout has files that are in no commit.
    """
    try:
        link = (workspace / ".git").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ()
    folder = workspace / link.strip().removeprefix("gitdir: ")
    try:
        common = folder / (folder / "commondir").read_text(encoding="utf-8").strip()
    except OSError:
        return (str(folder),)
    return str(folder), str(common)


def runtime_folders() -> tuple[str, ...]:
    """Return the folders that our own programs in the sandbox need: Python and this package."""
    return (sys.base_prefix, sys.prefix, str(_HERE.parents[1]))


def found_bubblewrap() -> str | None:
    """Find the bwrap program; its presence does not mean that it works."""
    return shutil.which("bwrap", path=f"{os.environ.get('PATH', '')}:{rules.DEFAULT_PATH}")


def _there(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.exists(path)))  # noqa: PTH110


def _left(masked: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in masked if os.path.lexists(path))


def without_mounts(level: Level, request: rules.Request, argv: Sequence[str]) -> list[str]:
    """Return a command line with a sandbox that needs no mounts (Seatbelt, Landlock)."""
    if level == "seatbelt":
        return [_SANDBOX_EXEC, "-p", rules.profile(request), *argv]
    if level == "landlock":
        text = json.dumps(rules.landlock_rules(request, abi=landlock.abi())._asdict())
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
        request = settle(rules.for_planning(cwd=str(folder / "held")), homes=())
        if level == "bwrap":
            request = request.changed(writable=(str(folder / "free"),))
        port = str(server.getsockname()[1])
        places = map(str, (*canaries, folder / "free" / "bird"))
        output, ran = _output(level, request, [sys.executable, "-I", "-S", "-c", _CANARY, *places, port])
        wrote = [path for path in canaries if path.exists()]
        for path in wrote:
            path.unlink()
        connected = _was_called(server)
        sang = "the canary sang" in output and (level != "bwrap" or (folder / "free" / "bird").exists())
    if sang and not wrote and not connected:
        return None
    if sang:
        output, ran = "it ran, and let a write or a connection through", True
    if level == "landlock":
        return why_landlock(output)
    return why_bubblewrap(output, knobs_here(), there=True, ran=ran)


def _output(level: Level, request: rules.Request, argv: Sequence[str]) -> tuple[str, bool]:
    """Return the output of a probe, and whether it ran on."""
    try:
        with launch(level, request, argv) as process:
            try:
                output, _ = process.communicate(timeout=_PROBE_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                return "it did not answer in time", True
    except OSError as error:
        return str(error), False
    return output.decode("utf-8", "replace").strip(), False


def _was_called(server: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        server.accept()[0].close()
        return True
    return False


def _version() -> str:
    argv = [found_bubblewrap() or "bwrap", "--version"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603  the same
    return done.stdout.strip().rpartition(" ")[2]
