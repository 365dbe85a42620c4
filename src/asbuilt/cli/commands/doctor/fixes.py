"""Changes that fix a problem, line by line. Pure. Rule: what needs root is shown to the user, never run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

if TYPE_CHECKING:
    from asbuilt.agents.sandbox.unavailable import Refusal
    from asbuilt.cli.ui.screen import Pen

FIXES: Final = ("sandbox", "engine")

_PROFILE_FILE: Final = "/etc/apparmor.d/bwrap"
_PROFILE: Final = """\
abi <abi/4.0>,
include <tunables/global>

profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}"""
_SYSCTL_FILE: Final = "/etc/sysctl.d/60-user-namespaces.conf"
_SYSCTL: Final = """\
user.max_user_namespaces = 10000
-kernel.unprivileged_userns_clone = 1"""


class Remedy(NamedTuple):
    """A change to the machine: what it does, and the lines to type."""

    what: str
    lines: tuple[str, ...]
    """Shown unindented, so that they can be pasted into a shell."""


def remedy_for(refusal: Refusal) -> Remedy | None:
    """Return the change that removes a refusal's cause, if one is known."""
    match refusal.cause:
        case "missing":
            return Remedy(
                what="Install bubblewrap, with the package manager that you have:",
                lines=(
                    "sudo apt-get install bubblewrap",
                    "sudo dnf install bubblewrap",
                    "sudo pacman -S bubblewrap",
                    "sudo zypper install bubblewrap",
                ),
            )
        case "apparmor":
            return Remedy(
                what=(
                    "Let bubblewrap, and no other program, make user namespaces. Whoever may start"
                    " /usr/bin/bwrap on this machine may then use it:"
                ),
                lines=(*_written(_PROFILE_FILE, _PROFILE), f"sudo apparmor_parser --replace {_PROFILE_FILE}"),
            )
        case "namespaces":
            return Remedy(
                what="Switch user namespaces on, now and after a restart, for everybody on this machine:",
                lines=(*_written(_SYSCTL_FILE, _SYSCTL), f"sudo sysctl --load {_SYSCTL_FILE}"),
            )
        case "container":
            return Remedy(
                what="Start the container with these options, so that asbuilt can create its sandbox:",
                lines=("--security-opt seccomp=unconfined", "--security-opt systempaths=unconfined"),
            )
        case "leaks" | "landlock" | "unknown":
            return None
        case _:
            assert_never(refusal.cause)


def explained(pen: Pen, refusal: Refusal) -> list[str]:
    """Return the rows for a refusal and the change that fixes it."""
    remedy = remedy_for(refusal)
    case = pen.hanging("sandbox: ", refusal.what, commands=False)
    if remedy is None:
        return case + pen.hanging("", f"No change is known that helps. {refusal.next_step}")
    return [
        *case,
        *pen.hanging("", remedy.what, commands=False),
        "",
        *remedy.lines,
        "",
        *pen.hanging("", "asbuilt runs none of this; you do, and then `asbuilt doctor`."),
    ]


def _written(file: str, text: str) -> tuple[str, ...]:
    return (f"sudo tee {file} <<'END'", *text.split("\n"), "END")
