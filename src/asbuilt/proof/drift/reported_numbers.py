"""Lines in which an agent reports that a number of the plan is wrong: `PLAN-TEXT-DRIFT: …`. Pure.

Rule: a report never gives a value; only asbuilt's own commands do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"PLAN-TEXT-DRIFT: phase=([0-9]+[A-Za-z]?) bullet=([1-9][0-9]{0,5}) field=([^:=]+) plan=(.+?) actual=(.+)"
)


class Token(NamedTuple):
    """An agent's message that a number of the plan differs from what it found."""

    phase: str
    bullet: int
    field: str
    plan: str
    actual: str


def tokens_in(lines: Iterable[str]) -> tuple[tuple[Token, ...], tuple[str, ...]]:
    """Parse the agents' messages about drift; lines that cannot be parsed are returned as they are."""
    read = {line: _TOKEN.fullmatch(line.strip()) for line in lines}
    tokens = (
        Token(found[1].lower(), int(found[2]), found[3].strip(), found[4].strip(), found[5].strip())
        for found in read.values()
        if found is not None
    )
    return tuple(dict.fromkeys(tokens)), tuple(line for line, found in read.items() if found is None)
