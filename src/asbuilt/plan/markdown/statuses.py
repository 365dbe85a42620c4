"""Words and glyphs of a status: read liberally, written in the style of the file."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.plan.model import Status

_GLYPHS: Final = {
    **dict.fromkeys("✅✔☑🟢", Status.DONE),
    **dict.fromkeys("🟡🔄🚧⏳🔵🏗", Status.IN_PROGRESS),
    **dict.fromkeys("⬚⬜☐🔲◻⚪", Status.PENDING),
    **dict.fromkeys("❌🔴⛔🚫🛑", Status.BLOCKED),
}
_DONE: Final = tuple("done complete completed finished landed merged shipped implemented closed".split())
_IN_PROGRESS: Final = (
    "in progress", "wip", "started", "ongoing", "doing", "active", "implementing", "current", "partial",
)  # fmt: skip
_PENDING: Final = (
    "not started", "pending", "todo", "to do", "open", "planned", "queued", "ready", "next", "tbd", "-",
    "–", "—",
)  # fmt: skip
_BLOCKED: Final = (
    "blocked", "abandoned", "failed", "cancelled", "canceled", "dropped", "on hold", "deferred", "skipped",
)  # fmt: skip
_WORDS: Final = {
    **dict.fromkeys(_DONE, Status.DONE),
    **dict.fromkeys(_IN_PROGRESS, Status.IN_PROGRESS),
    **dict.fromkeys(_PENDING, Status.PENDING),
    **dict.fromkeys(_BLOCKED, Status.BLOCKED),
}
_BOXES: Final = {"[x]": Status.DONE, "[ ]": Status.PENDING, "[~]": Status.IN_PROGRESS, "[-]": Status.BLOCKED}
_LONGEST_FIRST: Final = sorted((word for word in _WORDS if word[0].isalpha()), key=len, reverse=True)
# The pattern runs on case-folded text. With IGNORECASE, `wıp` would match and be in no table.
_WORD: Final = re.compile(rf"\W*({'|'.join(_LONGEST_FIRST)})(?![\w-])")
GLYPH: Final = re.compile(f"[{''.join(_GLYPHS)}]\N{VARIATION SELECTOR-16}?")
HASH: Final = re.compile(r"(?<![0-9A-Za-z])([0-9a-f]{7,40})(?![0-9A-Za-z])")
_DECORATION: Final = " \t*_`"


def read_status(text: str) -> Status:
    """Parse a status text. A leading glyph outweighs the words after it; an empty text is pending."""
    bare = text.strip(_DECORATION)
    if not bare:
        return Status.PENDING
    glyph = _GLYPHS.get(bare[0])
    if glyph is not None:
        return glyph
    box = _BOXES.get(bare[:3].lower())
    if box is not None and bare[3:4] in {"", " "}:
        return box
    plain = bare.replace("_", " ").strip("[]()").casefold()
    if plain in _WORDS:
        return _WORDS[plain]
    word = _WORD.match(plain)
    if word is not None:
        return _WORDS[word.group(1)]
    return Status.DONE if HASH.match(plain) else Status.UNKNOWN


def read_commit(text: str) -> str | None:
    """Find the commit hash in a status or commit text."""
    found = HASH.search(text)
    return found.group(1) if found else None


def stated_commit(status: str) -> str | None:
    """Find the commit hash in a status text; a hash in the note after a colon does not count."""
    return read_commit(status.split(": ", 1)[0])


_STYLES: Final = {
    Status.DONE: ("✅ Done", "complete", "[COMPLETED]"),
    Status.IN_PROGRESS: ("🟡 In progress", "in_progress", "[IN PROGRESS]"),
    Status.PENDING: ("⬚", "pending", "[NOT STARTED]"),
    Status.BLOCKED: ("❌ Blocked", "blocked", "[BLOCKED]"),
}
"""A status as glyph, as word and in brackets."""
_AS_BOX: Final = {status: box for box, status in _BOXES.items()}
WRITABLE: Final = frozenset(_STYLES)
"""Statuses that a mark can write; `unknown` is only read."""
_LOWER: Final = re.compile(r"[a-z]+(?:[ _][a-z]+)?(?=\s*(?:[(:]|$))")


def write_status(status: Status, like: str) -> str:
    """Write a status in the style of the text it replaces: glyph, box, `[BRACKET]`, or lower-case word."""
    mark = like.strip()
    if mark[:3].lower() in _BOXES:
        return _AS_BOX[status]
    if mark.startswith("["):
        return _STYLES[status][2]
    lower = _LOWER.match(mark)
    if lower is not None and not HASH.fullmatch(lower.group()):
        return "done" if lower.group() == "done" and status is Status.DONE else _STYLES[status][1]
    return _STYLES[status][0]


def bracket_of(status: Status) -> str:
    """Return a status in brackets, for headings and metadata."""
    return _STYLES[status][2]


def glyph_of(status: Status) -> str:
    """Return the single glyph of a status, for headings that carry nothing else."""
    return _STYLES[status][0].split(" ", 1)[0]
