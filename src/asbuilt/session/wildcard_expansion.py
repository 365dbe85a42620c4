"""List a folder for the gate, which expands wildcards. Loaded only for a wildcard or a followed link.

Rule: links come first, because callers cut the list, for example at 200 names, and have to judge every link.
"""

from __future__ import annotations

import os

MOST_NAMES = 4_000


def names_in(folder: str) -> list[str]:
    """Return at most 4,000 names of a folder, links first; none if the folder cannot be listed."""
    links: list[str] = []
    others: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                (links if entry.is_symlink() else others).append(entry.name)
                if len(links) + len(others) >= MOST_NAMES:
                    break
    except (OSError, ValueError):
        return []
    return [*sorted(links), *sorted(others)]
