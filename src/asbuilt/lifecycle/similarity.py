"""Compare texts by their words, without common and short ones."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"\w+")
_SHORT: Final = 2
_COMMON: Final = frozenset((
    "about", "and", "anything", "are", "but", "can", "cannot", "does", "for", "from", "has", "have", "here",
    "into", "item", "its", "nobody", "not", "nothing", "one", "other", "out", "phase", "plan", "step",
    "still", "than", "that", "the", "then", "there", "this", "two", "until", "was", "what", "when", "where",
    "which", "while", "who", "why", "will", "with", "without", "would",
))  # fmt: skip
"""Common words that do not distinguish texts."""
_SHARED: Final = 2
"""Minimum number of shared words for two texts to count as similar."""


@lru_cache(maxsize=4_096)
def words(text: str) -> frozenset[str]:
    """Return the words by which a text is compared, without short words and a plural `s`."""
    found = (word for word in _WORD.findall(text.casefold()) if len(word) > _SHORT)
    return frozenset(word.removesuffix("s") for word in found if word not in _COMMON)


def alike(left: str, other: str) -> float:
    """Return the share of the shorter text's words that the other has too; 0 below two shared words."""
    first, second = words(left), words(other)
    shared = len(first & second)
    return shared / min(len(first), len(second)) if shared >= _SHARED else 0.0
