"""Sortable ids made by the client, and the keys of plans and segments."""

from __future__ import annotations

import os
import time
from typing import Any, Final, NamedTuple

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


class Segment(NamedTuple):
    """The part of a run between two waits: when it is due, and what it waits for."""

    org: str
    repo: str
    run: str
    n: int
    due_at: str
    why: str
    executor: str | None = None
    """The worker that started it, or that has the run's workspace; None: any worker may start it."""
    lane: str = ""
    """The phase that its chain of segments works on; empty: the run's own chain."""
    account: str = ""
    """The agent's account whose breaker it waits for."""

    @property
    def key(self) -> dict[str, Any]:
        """Return the columns that identify it, by name."""
        return {"org": self.org, "repo": self.repo, "run": self.run, "n": self.n}

    @property
    def workflow(self) -> str:
        """Return the engine's workflow id."""
        return f"{self.run}.{self.n}"
