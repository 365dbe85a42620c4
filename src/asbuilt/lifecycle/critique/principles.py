"""Principles of a critique. Users may edit the template."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from asbuilt.lifecycle.flaws import Flaw

TEMPLATE: Final = """\
# Principles

Each is judged PASS or FAIL, with evidence. Edit, remove or add lines: `- P1 name: what is asked`.

- P1 order: simple and independent steps come first, and each names the steps it depends on.
- P2 files: every file that is named exists, or is marked as new.
- P3 contracts: where an interface changes, its callers are named.
- P4 errors: for each step it is said what happens when it fails.
- P5 edges: each component has at least three edge cases.
- P6 verification: each phase has a command that can be pasted and run.
- P7 breaking: what breaks for users is named, with the way from old to new.
- P8 non-scope: what is left out is named, with the reason.
- P9 verbs: no step hides behind improve, handle, support or clean up.
- P10 newcomer: somebody who has never seen the code could begin.
- P11 effort: each phase says whether it is small, medium or large.
- P12 assumptions: what is taken for granted is written down.
"""

_LINE: Final = re.compile(r"[-*] +(?P<id>P[1-9][0-9]?) +(?P<name>[^:]+): *(?P<asks>.+)")
_MEANT: Final = re.compile(r"[-*] ")


class Principle(NamedTuple):
    """One principle that plans are judged by."""

    id: str
    name: str
    asks: str


def read_principles(text: str) -> tuple[Principle, ...] | tuple[Flaw, ...]:
    """Parse principles that a user edited; all flaws are returned at once."""
    found: dict[str, Principle] = {}
    flaws: list[Flaw] = []
    example = "- P4 errors: for each step it is said what happens when it fails."
    for number, line in enumerate(text.splitlines(), 1):
        parsed, what = _LINE.fullmatch(line.strip()), f"line {number} of the principles"
        if parsed is None:
            if _MEANT.match(line):
                flaws.append(Flaw(what, line.strip(), "an id, a name and a colon", example))
        elif parsed["id"] in found:
            flaws.append(Flaw(what, f"a second {parsed['id']}", "one line for each id", example))
        else:
            found[parsed["id"]] = Principle(**parsed.groupdict())
    if not found:
        flaws.append(Flaw("the principles", "none", "at least one principle", example))
    return tuple(flaws) or tuple(found.values())
