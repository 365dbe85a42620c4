"""What a text speaks of: its words without those that say nothing. Texts are compared by no more."""

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
"""Words that say nothing of what is spoken of."""
_SHARED: Final = 2
"""So many words at least two texts have in common before one counts as the other, written anew."""


@lru_cache(maxsize=4_096)
def words(text: str) -> frozenset[str]:
    """Give the words of a text by which it is compared: no short ones, no plurals."""
    found = (word for word in _WORD.findall(text.casefold()) if len(word) > _SHORT)
    return frozenset(word.removesuffix("s") for word in found if word not in _COMMON)


def alike(one: str, other: str) -> float:
    """Tell which share of the shorter text's words the other has too; 0 for too little to go by."""
    first, second = words(one), words(other)
    shared = len(first & second)
    return shared / min(len(first), len(second)) if shared >= _SHARED else 0.0
