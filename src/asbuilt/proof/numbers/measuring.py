"""Measure the numbers that a plan states, from the output of asbuilt's own commands. Pure.

Rule: an agent's message selects which number to check, never its value.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import EditRefused
from asbuilt.plan.editing.edit import AUDIT, correct
from asbuilt.plan.numbers.arithmetic import CODE
from asbuilt.plan.numbers.claims import corrected
from asbuilt.proof.evidence import TESTS
from asbuilt.proof.numbers.drift import Course, Number, decide, far_off
from asbuilt.proof.numbers.margins import QUIET_PCT, SEVERAL

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from asbuilt.plan.model import Claim, Criterion, Phase, Plan

_SHOWN: Final = 160

_TOKEN: Final = re.compile(
    r"PLAN-TEXT-DRIFT: phase=([0-9]+[A-Za-z]?) bullet=([1-9][0-9]{0,5}) field=([^:=]+) plan=(.+?) actual=(.+)"
)
_NUMBER: Final = re.compile(r"\s*([0-9]{1,12})(?:[ \t]+\S+)?\s*")
"""A count as tools print it: alone, or before the name of what was counted."""
_LINES: Final = re.compile(r"\s*lines?\b", re.IGNORECASE)
# A time, a size, a share or an exit code is not a count, whatever the command prints.
_UNIT: Final = re.compile(
    r"\s*(?:%|percent|×|[mnµu]?s\b|secs?\b|seconds?|min\b|minutes?|h\b|hours?|days?|[kmg]i?b\b)",
    re.IGNORECASE,
)
_CODED: Final = re.compile(r"\b(?:exits?|exit code|status)\b[^`\d]{0,30}$", re.IGNORECASE)
# A plain number is the command's output only where the words state it: "stays under 400" is not about 400.
_SAYS: Final = re.compile(
    r"(?:~|:|→|->|(?<![!<>])=>?|\b(?:about|approximately|expected|prints?|outputs?|gives?|says?|reports?|counts?|finds?"
    r"|returns?|shows?|lists?|is|are|has|have))\s*$",
    re.IGNORECASE,
)
_ANY_DAY: Final = date(2026, 1, 1)
_TESTS: Final = re.compile(r"\btests?\b", re.IGNORECASE)


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


class Shown(NamedTuple):
    """What asbuilt's own commands have shown of a tree."""

    outputs: Mapping[str, str] = {}
    """Output of each passed check, by its text."""
    passed: int | None = None
    """Number of passed tests, if a suite ran."""


def numbers_in(
    plan: Plan,
    phase: Phase,
    shown: Shown,
    tokens: Sequence[Token] = (),
    blamed: Container[Token] = (),
) -> tuple[Number, ...]:
    """Measure every stated number that asbuilt can; a number that quotes a check, from the check's output.

    `tokens` has the numbers that agents have pointed at, `blamed` those of them by the verifier.

    A number of tests is measured by the suite only if an agent has pointed at it and states the same count: a
    criterion's words alone do not identify the tests.
    """
    mine = [token for token in tokens if token.phase == phase.id]
    flagged = {token.bullet: token for token in mine}
    found = []
    for at, bullet, criterion in _counted(phase):
        claim, token = criterion.claim, flagged.get(bullet)
        if claim is None:
            continue
        measured = _measured(plan, criterion, claim, shown) or _tested(criterion, token, shown)
        if measured is None:
            continue
        actual, by = measured
        start, end = claim.stated
        found.append(
            Number(
                item=len(phase.work_items) + at,
                bullet=bullet,
                form=claim.form,
                low=claim.low,
                high=claim.high,
                stated=plan.source.text[start:end],
                actual=actual,
                by=by,
                was_corrected=AUDIT in plan.source.lines[plan.source.line_of(start)],
                is_flagged=token is not None,
                is_blamed=any(one.bullet == bullet and one in blamed for one in mine),
                diff=_diff(plan, phase.id, bullet, claim, actual),
                text=criterion.text,
            )
        )
    return tuple(found)


def _counted(phase: Phase) -> Iterator[tuple[int, int, Criterion]]:
    """Yield each criterion that contains a digit, with its number among all criteria and among these."""
    bullet = 0
    for at, criterion in enumerate(phase.criteria, 1):
        if any(char.isdigit() for char in criterion.text):
            bullet += 1
            yield at, bullet, criterion


def _around(plan: Plan, claim: Claim) -> tuple[str, str]:
    """Return the text before and after the literal in its line."""
    source, line = plan.source, plan.source.line_of(claim.stated.start)
    start = source.starts[line]
    return source.text[start : claim.stated.start], source.text[
        claim.stated.end : start + len(source.lines[line].rstrip())
    ]


def _measured(plan: Plan, criterion: Criterion, claim: Claim, shown: Shown) -> tuple[int, str] | None:
    checks = [code for code in dict.fromkeys(CODE.findall(criterion.text)) if code in shown.outputs]
    before, after = _around(plan, claim)
    is_a_count = not _UNIT.match(after) and not _CODED.search(before)
    if len(checks) != 1 or not is_a_count or (claim.form == "about" and not _SAYS.search(before)):
        return None
    output = shown.outputs[checks[0]]
    alone = _NUMBER.fullmatch(output)
    if alone is not None:
        return int(alone.group(1)), checks[0]
    return (len(output.splitlines()), checks[0]) if _LINES.match(after) else None


def _tested(criterion: Criterion, token: Token | None, shown: Shown) -> tuple[int, str] | None:
    if token is None or shown.passed is None or not _TESTS.search(criterion.text):
        return None
    return (shown.passed, TESTS) if token.actual == str(shown.passed) else None


def _diff(plan: Plan, phase: str, bullet: int, claim: Claim, actual: int) -> str:
    try:
        correct(plan, phase, bullet, actual, _ANY_DAY)
    except EditRefused:
        return ""
    before, after = _around(plan, claim)
    stated = plan.source.text[claim.stated.start : claim.stated.end]
    lines = (f"{before}{number}{after}".strip() for number in (stated, corrected(claim.form, actual)))
    return "\n".join(f"{sign} {line[:_SHOWN]}" for sign, line in zip("-+", lines, strict=True))


def notes_of(
    numbers: Sequence[Number], tokens: Iterable[Token], malformed: Sequence[str], phase: str
) -> Iterator[str]:
    """Yield notes about numbers for the user; none of them changes an outcome."""
    for one in numbers:
        if decide(one) in (Course.NOTE, Course.LEAVE):
            yield f"{one.words}, {one.off_pct} % off"
    if far_off(numbers) >= SEVERAL:
        yield f"several numbers are more than {QUIET_PCT} % off: refine the plan before its next phase"
    known = {one.bullet for one in numbers}
    for token in tokens:
        if token.phase != phase:
            yield f"an agent speaks of a number of phase {token.phase}, which is not this one"
        elif token.bullet not in known:
            told = f"bullet {token.bullet} is {token.actual} and not {token.plan}"
            yield f"an agent says that {told}; no check of ours counts it"
    for line in malformed:
        yield f"an agent's word on drift cannot be read: {line}"
