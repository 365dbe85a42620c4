"""Tell whether reading a path reads somebody's secrets. Pure: paths are real ones.

The one rule: the same places are secret to the gate as are hidden by the ring.
"""

from __future__ import annotations

from asbuilt.policy.ring import secrets

PROCESSES = "/proc"
"""What a process was started with stands there, keys among it."""


def reached(path: str, home: str, *, searched: bool = False) -> str:
    """Name the secret that is read with a path; empty: none. What is searched is read with all below it."""
    folders, files = secrets(home)
    for secret in (*folders, *files, PROCESSES):
        if path == secret or path.startswith(f"{secret}/"):
            return secret
    around = path if path.endswith("/") else f"{path}/"
    return home if searched and f"{home}/".startswith(around) else ""
