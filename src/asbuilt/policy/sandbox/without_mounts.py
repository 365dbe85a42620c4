"""Sandbox rules where there is no bubblewrap: Landlock in Linux, one generated profile for macOS. Pure.

Landlock is used for commands in plan mode only. It stops neither chmod nor UDP, and it cannot hide a path
inside a folder that it allows. Profiles are used only on a machine where one has refused a canary write.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from asbuilt.policy.sandbox.rules import Request, depth

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1  # all rights of ABI 1
_REFER = 1 << 13
READ = EXECUTE | READ_FILE | READ_DIR
TCP = 0b11  # bind and connect
SCOPES = 0b11  # abstract sockets and signals

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_MAC_DEVICES = ("/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/dtracehelper")
# A process that can reach one of these can start programs outside the profile.
_LAUNCHERS = ("com.apple.coreservices.launchservicesd", "com.apple.coreservices.appleevents")


class Rules(NamedTuple):
    """Rules for the kernel: handled rights are refused unless a rule gives them back below a path."""

    files: int
    network: int
    scopes: int
    paths: tuple[tuple[str, int], ...]


def landlock_rules(request: Request, *, abi: int) -> Rules:
    """Return the rules for a command in plan mode: it reads what is shown, and writes only to devices."""
    more = ((2, _REFER), (3, TRUNCATE), (5, IOCTL_DEV))
    files = _FIRST | sum(right for since, right in more if abi >= since)
    device = (WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV) & files
    shown = dict.fromkeys((*(path for path, _ in request.links), "/proc", *request.readable, request.chdir))
    return Rules(
        files=files,
        network=0 if request.network or abi < 4 else TCP,
        scopes=SCOPES if abi >= 6 else 0,
        paths=(*((path, READ) for path in shown), *((path, device) for path in DEVICES)),
    )


def profile(request: Request) -> str:
    """Write the profile. The last matching rule decides, so deeper paths come later."""
    planned = [
        *_planned(1, "deny file-read* file-write*", "subpath", request.hidden),
        *_planned(1, "deny file-read* file-write*", "literal", request.hidden_files),
        *_planned(2, "allow file-read*", "subpath", request.readable),
        *_planned(3, "allow file-read* file-write*", "subpath", request.writable),
        *_planned(3, "allow file-read* file-write*", "subpath", (request.tmp,) if request.tmp else ()),
        *_planned(4, "deny file-write*", "subpath", request.read_only),
    ]
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        "(deny appleevent-send)",
        *(f"(deny mach-lookup (global-name {_quoted(name)}))" for name in _LAUNCHERS),
        *(f"(allow file-write* (literal {_quoted(name)}))" for name in _MAC_DEVICES),
        *([] if request.network else ["(deny network*)"]),
        *(rule for _, rule in sorted(planned)),
    ]
    return "\n".join(lines) + "\n"


def _planned(
    order: int, rule: str, match: str, paths: Iterable[str]
) -> list[tuple[tuple[int, int, str], str]]:
    return [(depth(path, order), f"({rule} ({match} {_quoted(path)}))") for path in paths]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
