"""Compilers, interpreters and package managers: they may only print their version.

Rule: exactly one word follows the name, and it asks for the version.
"""

from __future__ import annotations

from asbuilt.policy.shell.place import writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.policy.shell.lexer import Word
    from asbuilt.policy.shell.place import Place

_OTHERS = {
    "go": ("version",),
    "lua": ("-v",),
    "node": ("--version", "-v"),
    "npm": ("--version", "-v"),
    "perl": ("--version", "-v"),
    "php": ("--version", "-v"),
    "python": ("--version", "-V"),
    "python3": ("--version", "-V"),
    "ruby": ("--version", "-v"),
    "cargo": ("--version", "-V"),
    "rustc": ("--version", "-V"),
    "zig": ("version",),
}


def look(name: str, words: Sequence[Word], place: Place) -> None:
    """Judge one of these programs; raises Refused."""
    del place
    known = _OTHERS.get(name, ("--version",))
    if len(words) != 1 or words[0].text not in known:
        raise writes(f"{name} runs or fetches code, which may change anything", f"{name} {known[0]}")
