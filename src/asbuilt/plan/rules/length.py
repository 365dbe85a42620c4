"""Length policies of plans: the values of `plan.length`.

The policies count lines without marks. The size band counts all characters of the file.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from asbuilt.plan.markdown.blocks import Heading
from asbuilt.plan.problems import Problem, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from asbuilt.plan.markdown.blocks import Block
    from asbuilt.plan.markdown.source import Source
    from asbuilt.plan.model import Check


class Length(StrEnum):
    """Values of `plan.length`, mildest first."""

    CONTROL = "control"
    TRIM = "trim"
    CUT = "cut"
    CAP = "cap"


LINES: Final = 40
"""Line limit: more lines are a warning with `cut`, and an error with `cap`."""

# Measured: readers rejected half of the plans over 20,000 characters, and a fifth of those under 2,000.
# 11,617 characters is the 90th percentile.
_LONG: Final = 20_000
_LONGISH: Final = 11_617
_CONTEXT: Final = frozenset({"context", "background", "overview", "motivation", "introduction"})
_GOAL: Final = frozenset({"goal", "goals"})
_ADVICE: Final = "Delete prose; keep file paths, commands and criteria."


def by_characters(count: int) -> Iterator[Problem]:
    """Report the size band of a plan: longer plans are rejected more often."""
    if count >= _LONGISH:
        yield Problem(
            1,
            Severity.WARNING if count >= _LONG else Severity.INFO,
            Rule.LONG_PLAN,
            f"has {count:,} characters; half of the plans over 20,000 are rejected, "
            "a fifth of those under 2,000",
            _ADVICE,
        )


def by_policy(
    length: Length, source: Source, body: str, loose: Sequence[Block], checks: Sequence[Check]
) -> Iterator[Problem]:
    """Check a plan against the chosen policy.

    `body` is the plan below its front matter, without marks; `loose` and `checks` are outside all phases.
    """
    if length is Length.TRIM:
        yield from _context(source, loose, _CONTEXT | _GOAL, most=1)
        for check in checks[1:2]:
            message = f"has {len(checks)} commands that verify the whole"
            yield _problem(check.line, message, "Keep the one that shows that all of it works.")
    if length is Length.CUT:
        yield from _context(source, loose, _CONTEXT, most=0)
    if length in (Length.CUT, Length.CAP):
        lines = sum(bool(line.strip()) for line in body.split("\n"))
        if lines > LINES:
            severity = Severity.ERROR if length is Length.CAP else Severity.WARNING
            message = f"has {lines} lines that are not blank; plan.length {length} takes {LINES}"
            yield Problem(1, severity, Rule.LONG_PLAN, message, _ADVICE)


def _context(
    source: Source, loose: Sequence[Block], names: frozenset[str], *, most: int
) -> Iterator[Problem]:
    for at, block in enumerate(loose):
        if not isinstance(block, Heading) or block.text.strip(" :*_#").casefold() not in names:
            continue
        under = takewhile(lambda one: not isinstance(one, Heading), loose[at + 1 :])
        lines = {line for one in under for line in range(one.line, one.after) if source.lines[line].strip()}
        if len(lines) > most:
            wanted = "one is enough" if most else "none is needed"
            message = f"has {len(lines)} lines under {block.text.strip()}; {wanted}"
            yield _problem(block.line + 1, message, "Whoever reads it knows the project; say what changes.")


def _problem(line: int, message: str, advice: str) -> Problem:
    return Problem(line, Severity.WARNING, Rule.LONG_PLAN, message, advice)
