"""Other spellings of commands: old ones, and `undo`. Each prints the command that it stands for on stderr."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from asbuilt.cli.ui.screen import printable

ONLY_NOTE: Final = "--note-only"
"""Hidden option of `run`: save the note and start nothing, as `asbuilt tell` did."""


def notice(old: str, words: Sequence[str]) -> str:
    """Return the line that names the command."""
    return printable(
        f"asbuilt {old} is now: asbuilt {shlex.join(word for word in words if word != ONLY_NOTE)}"
    )


def renamed(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of the command."""
    match arguments:
        case ["resume" | "now", *rest]:
            return ["run", *rest]
        case ["why" | "next", *rest]:
            return ["status", *rest]
        case ["pause", *rest]:
            return ["stop", "--pause", *rest]
        case ["tell", plan, text, *rest]:
            return ["run", plan, "-m", text, ONLY_NOTE, *rest]
        case ["tell", *rest]:
            return ["run", *rest]
        case ["attempts", "restore", *rest]:
            return ["log", *("--restore" if word == "--to" else word for word in rest)]
        case ["attempts", *rest]:
            return ["log", "--attempts", *_without(rest, "list", "diff")]
        case ["agents", *rest]:
            return ["doctor", "agents", *_without(rest, "list", "test")]
        case ["notify", *rest]:
            return ["doctor", "notify", *_without(rest, "test")]
        case ["bug-report", *rest]:
            return ["doctor", "bug-report", *rest]
        case ["undo", *rest]:
            return ["land", *rest, "--undo"]
        case _:
            return list(arguments)


def _without(rest: Sequence[str], *verbs: str) -> list[str]:
    return [*rest[1:]] if rest and rest[0] in verbs else [*rest]
