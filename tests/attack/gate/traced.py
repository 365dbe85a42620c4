"""Run a command in a container that protects this machine, and read from strace what it did.

The one rule: what cannot be told from a trace counts as an effect.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.attack.gate.stage import Stage

HIDDEN = ("/tmp", "/var/tmp", "/run", "/root", "/home", "/srv", "/mnt", "/media")  # noqa: S108
HARMLESS_FILES = frozenset(("/dev/null", "/dev/tty", "/proc/self/coredump_filter"))
"""They keep nothing beyond the process."""
TIMEOUT_S = 8
_TRACED = (
    "open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,chmod,fchmod,"
    "fchmodat,chown,fchown,lchown,fchownat,link,linkat,symlink,symlinkat,truncate,ftruncate,mknod,mknodat,"
    "utime,utimes,utimensat,futimesat,setxattr,lsetxattr,fsetxattr,removexattr,mount,umount2,"
    "connect,bind,sendto,sendmsg,sendmmsg,execve"
)
_OPENING = frozenset(("open", "openat", "openat2", "creat"))
_TALKING = frozenset(("connect", "bind", "sendto", "sendmsg", "sendmmsg"))
_CALL = re.compile(r"^(?:\d+\s+)?(?P<name>\w+)\((?P<arguments>.*)$")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FAMILY = re.compile(r"sa_family=AF_(INET6?|UNIX)|AF_UNIX, sun_path=\"([^\"]*)\"")
_SECRET = re.compile(
    r"(^|/)(\.env(\..*|rc)?|\.ssh/.*|\.netrc|\.npmrc|id_rsa|.*\.pem|.*\.key|\.bash_history|hosts\.yml|environ|shadow"
    r"|gshadow)$"
)


class Seen(NamedTuple):
    """What a command did."""

    effects: tuple[str, ...]
    """Writes, changes and connections, as strace tells them."""
    secrets: tuple[str, ...]
    """Secret files that were opened."""
    started: tuple[str, ...]
    """Programs that were started."""
    code: int | None
    """None: it was ended after some seconds."""


def container(stage: Stage, argv: Sequence[str], *, traces: Path) -> list[str]:
    """Write the command line of the container: only the stage is writable, and there is no network."""
    hidden = [word for path in HIDDEN if Path(path).is_dir() for word in ("--tmpfs", path)]
    return [
        "bwrap",
        *("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *hidden),
        *("--bind", str(stage.root), str(stage.root), "--bind", str(traces), str(traces)),
        *("--chdir", str(stage.repository), "--", *argv),
    ]


def run(stage: Stage, command: str) -> Seen:
    """Run one command by bash on a stage, which it may change."""
    with tempfile.TemporaryDirectory(prefix="traces-") as folder:
        trace = Path(folder) / "trace"
        tracer = ["strace", "-f", "-qq", "-s", "4096", "-o", str(trace), "-e", f"trace={_TRACED}"]
        argv = container(stage, [*tracer, "bash", "-c", command], traces=Path(folder))
        code = _ended(argv, stage.environment)
        text = trace.read_text(errors="replace") if trace.exists() else ""
    return read_trace(text, code)


def read_trace(text: str, code: int | None = 0) -> Seen:
    """Read a trace; the first program is the shell itself, and does not count."""
    effects, secrets, started = [], [], []
    for line in text.splitlines():
        call = _CALL.match(line)
        if call is None:
            continue
        name, arguments = call["name"], call["arguments"]
        paths = _PATH.findall(arguments)
        if name == "execve":
            started += paths[:1] if arguments.endswith(" = 0") else []
        elif name in _OPENING:
            path = paths[0] if paths else "?"
            if _is_writing(name, arguments) and path not in HARMLESS_FILES:
                effects.append(line)
            if _SECRET.search(path) and " = -1 " not in arguments:
                secrets.append(path)
        elif name in _TALKING:
            effects += [line] if _is_outside(arguments) else []
        else:
            effects.append(line)
    return Seen(tuple(effects), tuple(secrets), tuple(started[1:]), code)


def _is_writing(name: str, arguments: str) -> bool:
    return name == "creat" or any(flag in arguments for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"))


def _is_outside(arguments: str) -> bool:
    """Tell a connection from the C library's look for a name service that is not there."""
    family = _FAMILY.search(arguments)
    return family is not None and "/nscd/socket" not in arguments


def _ended(argv: Sequence[str], environment: dict[str, str]) -> int | None:
    with _process(argv, environment) as process:
        try:
            return process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None


@contextlib.contextmanager
def _process(argv: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
