"""Names for things: sortable ids made by the client, and the short names that people type."""

from __future__ import annotations

import os
import time
from typing import Final, NamedTuple

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u
LOCAL: Final = "local"
"""The organisation on a laptop: every key starts with one, so that a fleet needs no other keys."""


class Address(NamedTuple):
    """Where a plan's events stand: organisation, repository, and the plan's path in it."""

    org: str
    repo: str
    plan: str


def new_id() -> str:
    """Make an id that sorts by the time it was made: 48 bits of milliseconds, 80 of chance."""
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))
