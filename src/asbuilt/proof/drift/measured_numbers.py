"""Measure the numbers that a plan states by asbuilt's own commands, and decide what follows. Pure.

Rules: an agent can only point at a number, never give its value. Where a verdict depends on the plan's text
about a number, the user decides.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import EditRefused
from asbuilt.plan.editing.edit import AUDIT, correct
from asbuilt.plan.model import Claim, Criterion, Form, Phase, Plan
from asbuilt.plan.numeric_claims import CODE, bullets_of, corrected, drift
from asbuilt.proof.drift.bands import NOTED_PCT, QUIET_PCT, SEVERAL
from asbuilt.proof.evidence import TESTS
from asbuilt.proof.opinion import Opinion
from asbuilt.proof.verdict import Held, Promise, Verdict, Waiver, judge

if TYPE_CHECKING:
    from asbuilt.proof.drift.reported_numbers import Token


class Course(StrEnum):
    """What happens to a number that differs from the plan."""

    CORRECT = "correct"
    """The criterion holds as worded; the number is corrected at landing."""
    NOTE = "note"
    """The same, with a note for the user."""
    LEAVE = "leave"
    """The criterion holds, and the number was corrected before: a number is corrected only once."""
    ASK = "ask"
    """The criterion does not hold as worded: only the user changes its text."""
    STOP = "stop"
    """The criterion does not hold, and the number was corrected before: its cause is not understood."""


class Number(NamedTuple):
    """A number that a criterion states, and its measured value."""

    item: int
    """Item number as in a verdict: work items, then criteria, from 1."""
    bullet: int
    """Index among the criteria that contain a digit, from 1."""
    form: Form
    low: int | None
    high: int | None
    stated: str
    actual: int
    by: str
    """What measured it: a check's text, or `tests`."""
    was_corrected: bool = False
    is_flagged: bool = False
    """An agent has pointed at it."""
    is_blamed: bool = False
    """The verifier has pointed at it: a FAIL of its criterion is about the text."""
    diff: str = ""
    """Its line before and after a correction; empty if it cannot be corrected in place."""
    text: str = ""

    @property
    def off_pct(self) -> int:
        """How far it is off, in whole percent; 0 within the stated range."""
        return drift(self.form, self.low, self.high, self.actual)

    @property
    def holds(self) -> bool:
        """Whether the criterion is met as worded. A bound is exact; "about" allows 20 %."""
        return self.off_pct <= (NOTED_PCT if self.form == "about" else 0)

    @property
    def words(self) -> str:
        """The difference in words."""
        return f"the plan says {self.stated}, and `{self.by}` gives {self.actual}"


_SHOWN: Final = 160

_NUMBER: Final = re.compile(r"\s*([0-9]{1,12})(?:[ \t]+\S+)?\s*")
"""A count as tools print it: alone, or before the name of what was counted."""
_LINES: Final = re.compile(r"(?i)\s*lines?\b")
# A time, a size, a share or an exit code is not a count, whatever the command prints.
_UNIT: Final = re.compile(
    r"(?i)\s*(?:%|percent|×|[mnµu]?s\b|secs?\b|seconds?|min\b|minutes?|h\b|hours?|days?|[kmg]i?b\b)"
)
_CODED: Final = re.compile(r"(?i)\b(?:exits?|exit code|status)\b[^`\d]{0,30}$")
# A plain number is the command's output only where the words state it: "stays under 400" is not about 400.
_SAYS: Final = re.compile(
    r"(?i)(?:~|:|→|->|(?<![!<>])=>?|\b(?:about|approximately|expected|prints?|outputs?|gives?|says?|reports?|counts?|finds?"
    r"|returns?|shows?|lists?|is|are|has|have))\s*$"
)
_ANY_DAY: Final = date(2026, 1, 1)
_TESTS: Final = re.compile(r"(?i)\btests?\b")


def decide(number: Number) -> Course | None:
    """Decide what happens to a number; None if nothing does.

    A number that holds is corrected only if an agent has pointed at it: "about 40" is true of 41.
    """
    if not number.holds:
        return Course.STOP if number.was_corrected else Course.ASK
    if number.off_pct == 0 or not number.is_flagged:
        return None
    if not is_correctable(number):
        return Course.LEAVE
    return Course.CORRECT if number.off_pct <= QUIET_PCT else Course.NOTE


def far_off(numbers: Iterable[Number]) -> int:
    """Count the numbers that are off by more than 10 %, the limit of a silent correction."""
    return sum(number.off_pct > QUIET_PCT for number in numbers)


class Weighed(NamedTuple):
    """A verdict with its numbers."""

    verdict: Verdict
    asks: tuple[Number, ...] = ()
    """Numbers whose correction would turn it into a PASS: the user decides."""
    stops: tuple[Number, ...] = ()
    """Numbers that were corrected before, do not hold again, and that an agent points at again."""


def weigh(
    promises: Sequence[Promise],
    opinion: Opinion | None,
    held: Held,
    numbers: Sequence[Number],
    *,
    waivers: Mapping[int, Waiver],
) -> Weighed:
    """Judge every item by the plan's text, and by the text with each number corrected.

    `held.against` already has the result of `against`, and the waivers include what the user agreed to.
    """
    verdict = judge(promises, opinion, held, waivers=waivers)
    as_corrected = judge(promises, opinion, held._replace(against={}), waivers=waivers)
    unmet = {item.item for item in verdict.items if item.outcome != "PASS" and not item.waived}
    passes = {item.item for item in as_corrected.items if item.outcome == "PASS"}
    unmet_numbers = [number for number in numbers if number.item in unmet and number.off_pct]
    asks = tuple(
        number
        for number in unmet_numbers
        if (number.item in passes or number.is_blamed) and is_correctable(number)
    )
    is_all = not verdict.faults and unmet == {number.item for number in asks}
    stops = tuple(number for number in unmet_numbers if decide(number) is Course.STOP and number.is_flagged)
    return Weighed(verdict, asks if is_all else (), stops)


def is_correctable(number: Number) -> bool:
    """Return whether it can be corrected in place and was not corrected before."""
    return bool(number.diff) and not number.was_corrected


def against(numbers: Iterable[Number], agreed: Container[int]) -> dict[int, str]:
    """Return the items that a measurement contradicts, with reasons; `agreed` has items the user settled."""
    return {
        number.item: f"{number.words}; it is not met as it is worded"
        for number in numbers
        if not number.holds and not (number.item in agreed and is_correctable(number))
    }


def accepted(numbers: Iterable[Number], agreed: Mapping[int, Waiver]) -> dict[int, Waiver]:
    """Return the items that the verifier fails for a number to which the user has agreed."""
    return {
        number.item: agreed[number.item]
        for number in numbers
        if number.is_blamed and number.item in agreed and is_correctable(number)
    }


def corrections(numbers: Iterable[Number], agreed: Container[int]) -> Iterator[Number]:
    """Yield the numbers to correct at landing: those that hold, and those that the user agreed to."""
    courses = (Course.CORRECT, Course.NOTE)
    return (number for number in numbers if number.item in agreed or decide(number) in courses)


class Shown(NamedTuple):
    """What asbuilt's own commands have shown of a tree."""

    outputs: Mapping[str, str] = {}
    """Output of each passed check, by its text."""
    passed: int | None = None
    """Number of passed tests, if a suite ran."""


def numbers_in(
    plan: Plan, phase: Phase, shown: Shown, tokens: Sequence[Token] = (), blamed: Container[Token] = ()
) -> tuple[Number, ...]:
    """Measure every stated number that asbuilt can; a number that quotes a check, from the check's output.

    `tokens` has the numbers that agents have pointed at, `blamed` those of them by the verifier.

    A number of tests is measured by the suite only if an agent has pointed at it and states the same count: a
    criterion's words alone do not identify the tests.
    """
    mine = [token for token in tokens if token.phase == phase.id]
    flagged = {token.bullet: token for token in mine}
    found = []
    for bullet, (at, criterion) in enumerate(bullets_of(phase), 1):
        claim, token = criterion.claim, flagged.get(bullet)
        if claim is None:
            continue
        measured = _measured(plan, criterion, claim, shown)
        if measured is None and token and shown.passed is not None and _TESTS.search(criterion.text):
            measured = (shown.passed, TESTS) if token.actual == str(shown.passed) else None
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
                is_blamed=any(word.bullet == bullet and word in blamed for word in mine),
                diff=_diff(plan, phase.id, bullet, claim, actual),
                text=criterion.text,
            )
        )
    return tuple(found)


def _around(plan: Plan, claim: Claim) -> tuple[str, str]:
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
    for number in numbers:
        if decide(number) in (Course.NOTE, Course.LEAVE):
            yield f"{number.words}, {number.off_pct} % off"
    if far_off(numbers) >= SEVERAL:
        yield f"several numbers are more than {QUIET_PCT} % off: refine the plan before its next phase"
    known = {number.bullet for number in numbers}
    for token in tokens:
        if token.phase != phase:
            yield f"an agent speaks of a number of phase {token.phase}, which is not this one"
        elif token.bullet not in known:
            correction = f"bullet {token.bullet} is {token.actual} and not {token.plan}"
            yield f"an agent says that {correction}; no check of ours counts it"
    for line in malformed:
        yield f"an agent's word on drift cannot be read: {line}"
