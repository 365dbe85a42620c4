"""Commands in a Verification section that asbuilt can run. Prose never becomes a command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING, Final

from asbuilt.plan.markdown.blocks import Fence, Heading
from asbuilt.plan.model import Check

if TYPE_CHECKING:
    from asbuilt.plan.markdown.sections import Piece

_SESSIONS: Final = frozenset({"console", "shell-session", "terminal"})
"""Recorded sessions. If a line has a `$ ` prompt, lines without one are output."""
_SHELLS: Final = _SESSIONS | {"", "sh", "bash", "shell", "zsh"}
_LEAD: Final = re.compile(
    r"(?i)(?:(?:\*\*|__)?(?:run|execute|command|check)(?:\*\*|__)?:?(?:\*\*|__)?\s+)?(`+)(?!`)"
)
_TICKS: Final = re.compile(r"`+")
_RUN: Final = re.compile(r"(?is)(?:\*\*|__)?run(?:\*\*|__)?:(?:\*\*|__)?\s*(.*)")
_EXPECTED: Final = re.compile(r"(?is)(?:\*\*|__)?expected(?:\*\*|__)?:(?:\*\*|__)?\s*(.*)")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_./~+@%-]+")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=\S*")
# A single word in code is a command only if nothing, or an outcome such as `passes`, follows it.
_OUTCOME: Final = re.compile(
    r"(?i)\W*(?:$|(?:still\s+)?(?:passes|pass|succeeds|exits?|prints?|returns?|outputs?|reports?|shows?"
    r"|is green|is clean|runs|finds|fails)\b|→|->|=>)"
)
_FILE: Final = re.compile(
    r"(?!\./).*\.(?:py|js|ts|tsx|jsx|md|toml|json|ya?ml|txt|css|html|rs|go|java|c|h|cfg|ini|lock)$"
)
# A loop, a condition, a function or a here-document is one command over several lines.
_COMPOUND: Final = re.compile(r"(?:\bdo|\bthen|\{|\()$|^(?:done|fi|esac|\})\b|<<-?\s*['\"]?\w")


def checks_of(pieces: Sequence[Piece], parts: frozenset[str]) -> tuple[Check, ...]:
    """Collect the commands of the given parts, and every `Run:` that is not expected to fail."""
    found: dict[str, int] = {}
    pending: list[Check] = []
    awaits_fence = False
    for piece in pieces:
        if isinstance(piece.block, Heading):
            awaits_fence = False
            continue
        if isinstance(piece.block, Fence):
            if awaits_fence:
                pending.extend(_from_fence(piece.block))
                awaits_fence = False
            elif piece.part in parts:
                _keep(found, _from_fence(piece.block))
            continue
        expected = _EXPECTED.match(piece.text)
        if expected is not None:
            if not expected.group(1).lstrip("*_` ").casefold().startswith("fail"):
                _keep(found, pending)
            pending = []
            continue
        run = _RUN.match(piece.text)
        if run is not None:
            _keep(found, pending)
            command = command_of(run.group(1))
            pending = [Check(command=command, line=piece.line + 1)] if command else []
            awaits_fence = not run.group(1).strip()
        elif piece.part in parts:
            command = command_of(piece.text)
            if command:
                _keep(found, [*pending, Check(command=command, line=piece.line + 1)])
                pending = []
    _keep(found, pending)
    return tuple(Check(command=command, line=line) for command, line in found.items())


def _keep(found: dict[str, int], checks: Iterable[Check]) -> None:
    for check in checks:
        found.setdefault(check.command, check.line)


def command_of(text: str) -> str | None:
    """Return the command that a bullet or a line opens with, or None when it is prose."""
    lead = _LEAD.match(text)
    if lead is None:
        return None
    close = next((run for run in _TICKS.finditer(text, lead.end()) if run.group() == lead.group(1)), None)
    if close is None:
        return None
    command = " ".join(text[lead.end() : close.start()].split("\n")).strip().removeprefix("$ ")
    words = list(dropwhile(_ASSIGNMENT.fullmatch, command.split()))
    if not words or not _PROGRAM.fullmatch(words[0]) or not re.search(r"\w", words[0]):
        return None
    if len(words) == 1 and (_FILE.match(words[0]) or not _OUTCOME.match(text[close.end() :])):
        return None
    return command


def _from_fence(fence: Fence) -> list[Check]:
    """Parse a shell block into one command per line, without comments, prompts and output.

    A block with a loop or another compound command is one command.
    """
    words = fence.info.split()
    language = words[0].casefold() if words else ""
    if language not in _SHELLS:
        return []
    lines = fence.content.split("\n")
    if any(_COMPOUND.search(line.strip()) for line in lines):
        return [Check(command=fence.content.strip("\n"), line=fence.content_line + 1)]
    prompts = language in _SESSIONS and any(line.lstrip().startswith("$ ") for line in lines)
    found: list[Check] = []
    joined = ""
    for offset, raw in enumerate(lines, start=fence.content_line + 1):
        line = raw.strip()
        if not joined:
            if prompts and not line.startswith("$ "):
                continue
            line = line.removeprefix("$ ")
            if not line or line.startswith("#"):
                continue
        if line.endswith("\\"):
            joined += line[:-1].rstrip() + " "
            continue
        found.append(Check(command=(joined + line).strip(), line=offset))
        joined = ""
    if joined.strip():
        found.append(Check(command=joined.strip(), line=fence.content_line + 1))
    return found
