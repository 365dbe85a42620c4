"""Sandbox rules for macOS: one generated profile. Pure.

Rule: profiles are used only on a machine where one has refused a canary write.
"""

from __future__ import annotations

from asbuilt.policy.sandbox.rules import depth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asbuilt.policy.sandbox.rules import Request

_DEVICES = ("/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/dtracehelper")
# A process that can reach one of these can start programs outside the profile.
_LAUNCHERS = ("com.apple.coreservices.launchservicesd", "com.apple.coreservices.appleevents")


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
        *(f"(allow file-write* (literal {_quoted(name)}))" for name in _DEVICES),
        *([] if request.network else ["(deny network*)"]),
        *(rule for _, rule in sorted(planned)),
    ]
    return "\n".join(lines) + "\n"


def seatbelt(request: Request, argv: Sequence[str], *, program: str) -> list[str]:
    """Return the whole command line."""
    return [program, "-p", profile(request), *argv]


def _planned(
    order: int, rule: str, match: str, paths: Iterable[str]
) -> list[tuple[tuple[int, int, str], str]]:
    return [(depth(path, order), f"({rule} ({match} {_quoted(path)}))") for path in paths]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
