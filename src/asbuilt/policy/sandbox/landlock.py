"""Sandbox rules for Landlock: the handled rights, and the paths that keep some. Pure data.

Rule: Landlock is used for commands in plan mode only. It stops neither chmod nor UDP, and it cannot hide a
path inside a folder that it allows.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asbuilt.policy.sandbox.rules import Request

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1  # all rights of ABI 1
_REFER = 1 << 13
READ = EXECUTE | READ_FILE | READ_DIR
TCP = 0b11  # bind and connect
SCOPES = 0b11  # abstract sockets and signals

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")


class Rules:
    """Rules for the kernel: handled rights are refused unless a rule gives them back below a path."""

    __slots__ = ("files", "network", "paths", "scopes")

    def __init__(self, *, files: int, network: int, scopes: int, paths: tuple[tuple[str, int], ...]) -> None:
        self.files = files
        self.network = network
        self.scopes = scopes
        self.paths = paths


def handled(abi: int) -> int:
    """Return every right to files that this version of the kernel's ABI can handle."""
    rights = _FIRST
    for since, more in ((2, _REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if abi >= since:
            rights |= more
    return rights


def rules(request: Request, *, abi: int) -> Rules:
    """Return the rules for a command in plan mode: it reads what is shown, and writes only to devices."""
    files = handled(abi)
    device = (WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV) & files
    shown = dict.fromkeys((*(path for path, _ in request.links), "/proc", *request.readable, request.chdir))
    return Rules(
        files=files,
        network=0 if request.network or abi < 4 else TCP,
        scopes=SCOPES if abi >= 6 else 0,
        paths=(*((path, READ) for path in shown), *((path, device) for path in DEVICES)),
    )
