"""Sortable ids made by the client, and the address of a plan."""

from __future__ import annotations

import os
import time
from typing import Final, NamedTuple

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u
LOCAL: Final = "local"
"""The organisation of a single-user store. Every key starts with an organisation, also in shared stores."""


class Address(NamedTuple):
    """Key of a plan's events: organisation, repository, and the plan's path in it."""

    org: str
    repo: str
    plan: str


def new_id() -> str:
    """Return an id that sorts by creation time: 48 bits of milliseconds, 80 random bits."""
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))
