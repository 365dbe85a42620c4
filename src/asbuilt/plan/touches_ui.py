"""Whether a phase changes what people see: its text names a part of a screen, or a file of one. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

_WORDS: Final = (
    "editor", "toolbar", "canvas", "panel", "dialog", "css", "button", "menu", "viewport", "renderer",
    "dark mode", "dark-mode", "layout",
)  # fmt: skip
_FOLDERS: Final = (
    "ui", "gui", "components", "views", "widgets", "templates", "frontend", "styles", "pages", "screens",
)  # fmt: skip
_ENDINGS: Final = ("css", "scss", "less", "tsx", "jsx", "vue", "svelte", "html", "qml")
_UI_WORD: Final = re.compile(rf"(?i)(?<![\w/.-])(?:{'|'.join(_WORDS)})s?(?![\w/])")
_UI_PATH: Final = re.compile(rf"(?<![\w.-])(?:{'|'.join(_FOLDERS)})/|\.(?:{'|'.join(_ENDINGS)})(?!\w)")
# Most phases contain none of these, and a substring search is much faster than a pattern.
_HINTS: Final = (*_WORDS, *(f"{name}/" for name in _FOLDERS), *(f".{name}" for name in _ENDINGS))
_PATH: Final = re.compile(r"[\w.@/-]+")


def touches_ui(text: str, patterns: Sequence[str]) -> bool:
    """Return whether a phase touches the UI; `patterns` are the project's own globs for UI files."""
    folded = text.casefold()
    if any(hint in folded for hint in _HINTS) and (_UI_WORD.search(text) or _UI_PATH.search(text)):
        return True
    return bool(patterns) and any(
        fnmatchcase(path, pattern)
        for path in (word.rstrip(".") for word in _PATH.findall(text))
        if "/" in path or "." in path
        for pattern in patterns
    )
