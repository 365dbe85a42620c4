"""What is wrong with something that was handed in. The one rule: it says found, needed, and an example."""

from __future__ import annotations

from typing import NamedTuple


class Flaw(NamedTuple):
    """One reason why something is not accepted, in words that its writer can mend it by."""

    what: str
    found: str
    needed: str
    example: str
