"""List a folder for the gate, which judges what a wildcard stands for. Loaded only where one is met.

The one rule: links come first, so that a bound on the number of names leaves out plain files before links.
"""

from __future__ import annotations

import os

MOST_NAMES = 4_000


def names_in(folder: str) -> list[str]:
    """Give at most 4,000 names of a folder, links first; none where it cannot be listed."""
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
