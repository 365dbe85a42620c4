"""Symbols of one column that mark a state, in Unicode and in ASCII."""

from __future__ import annotations

from typing import Final, NamedTuple


class Symbols(NamedTuple):
    """One-column symbols; the ASCII ellipsis has three. A word always follows a symbol."""

    proven: str
    failed: str
    working: str
    not_started: str
    waits: str
    not_run: str
    note: str
    ellipsis: str


UNICODE: Final = Symbols(*"✓ ✗ ● ○ ◇ – ! …".split())
ASCII: Final = Symbols(*"+ x * . ? - ! ...".split())
