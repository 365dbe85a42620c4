"""Explain why no sandbox works on this machine, and what helps.

Rule: name the kernel's settings, because the user has to change one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

_APPARMOR: Final = "kernel.apparmor_restrict_unprivileged_userns"
_NAMESPACES: Final = "user.max_user_namespaces"
_CLONE: Final = "kernel.unprivileged_userns_clone"
_CONTAINER_MARKS: Final = ("/.dockerenv", "/run/.containerenv")


Cause = Literal["missing", "leaks", "apparmor", "namespaces", "container", "landlock", "unknown"]


class Refusal(Struct, frozen=True, kw_only=True):
    """Why one sandbox does not work here."""

    cause: Cause
    what: str
    why: str
    next_step: str


class Knobs(Struct, frozen=True, kw_only=True):
    """Kernel and container settings that affect user namespaces."""

    apparmor: bool = False
    namespaces_off: bool = False
    in_container: bool = False


def knobs_here() -> Knobs:
    """Read the settings."""
    return Knobs(
        apparmor=_setting(_APPARMOR) == "1",
        namespaces_off=_setting(_NAMESPACES) == "0" or _setting(_CLONE) == "0",
        in_container=any(Path(mark).exists() for mark in _CONTAINER_MARKS),
    )


def why_bubblewrap(output: str, knobs: Knobs, *, there: bool, ran: bool = False) -> Refusal:
    """Explain the error of bubblewrap (or Seatbelt); the first matching cause is the one to fix first.

    `ran`: it started the probe, which then did not end as it should; `output` says how.
    """
    last = output.splitlines()[-1][:200] if output else ""
    if not there:
        return Refusal(
            cause="missing",
            what="bubblewrap is not installed",
            why="It is what holds agents and checks to their workspace on Linux.",
            next_step="`asbuilt doctor --fix sandbox` shows how to install it.",
        )
    if ran:
        return Refusal(
            cause="leaks",
            what=f"bubblewrap does not work here: {last}",
            why="A sandbox that lets the canary out lets everything out.",
            next_step="`command -v bwrap` names the program; it should be the distribution's own.",
        )
    if knobs.apparmor:
        return Refusal(
            cause="apparmor",
            what="AppArmor refuses bubblewrap a user namespace",
            why=f"{_APPARMOR} is 1, and no profile excepts bwrap. It said: {last}",
            next_step="`asbuilt doctor --fix sandbox` shows a profile for /usr/bin/bwrap.",
        )
    if knobs.namespaces_off:
        return Refusal(
            cause="namespaces",
            what="this system has user namespaces switched off",
            why=f"{_NAMESPACES} or {_CLONE} is 0, and bubblewrap needs one. It said: {last}",
            next_step=f"`sudo sysctl -w {_NAMESPACES}=10000` (and {_CLONE}=1 where it exists).",
        )
    if knobs.in_container:
        return Refusal(
            cause="container",
            what="this container may not make namespaces of its own",
            why=f"Its seccomp profile or masked /proc forbids what bubblewrap does. It said: {last}",
            next_step=(
                "Start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, "
                "or let the container be the only sandbox."
            ),
        )
    return Refusal(
        cause="unknown",
        what=f"bubblewrap does not start: {last or 'it said nothing'}",
        why="The kernel or a security module refused it something.",
        next_step="`bwrap --ro-bind / / --unshare-all true`, then look into the kernel's log.",
    )


def why_landlock(output: str) -> Refusal:
    """Explain why Landlock does not work."""
    if not output:
        return Refusal(
            cause="landlock",
            what="Landlock is off",
            why="The kernel has none, or it is not among its security modules (lsm=).",
            next_step="A kernel from 5.13 on with landlock in lsm= has it; bubblewrap is better than both.",
        )
    return Refusal(
        cause="landlock",
        what=f"Landlock does not work here: {output.splitlines()[-1][:200]}",
        why="A canary's write or connection was not refused, or its command did not start.",
        next_step="Use bubblewrap; Landlock blocks connections only from kernel 6.7 on.",
    )


def _setting(name: str) -> str:
    try:
        return (Path("/proc/sys") / name.replace(".", "/", 1)).read_text(encoding="ascii").strip()
    except OSError:
        return ""
