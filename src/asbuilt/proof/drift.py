"""Numbers that a plan states, against what we measured of the work. Pure.

The one rule: an agent can only point at a number. What it is we measure; where a verdict turns on what the
plan says of it, a person decides.
"""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import EditRefused
from asbuilt.plan.arithmetic import CODE
from asbuilt.plan.claims import corrected, drift
from asbuilt.plan.edit import AUDIT, correct
from asbuilt.proof.evidence import TESTS
from asbuilt.proof.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from asbuilt.plan.model import Claim, Criterion, Form, Phase, Plan
    from asbuilt.proof.opinion import Opinion
    from asbuilt.proof.verdict import Held, Promise, Verdict, Waiver

QUIET_PCT: Final = 10
"""So far a number that was only meant roughly may be off, and is corrected without a word."""
NOTED_PCT: Final = 20
"""So far it may be off, and is corrected with a note. Beyond it the number does not hold."""
_SEVERAL: Final = 2
_SHOWN: Final = 160

_TOKEN: Final = re.compile(
    r"PLAN-TEXT-DRIFT: phase=([0-9]+[A-Za-z]?) bullet=([1-9][0-9]{0,5}) field=([^:=]+) plan=(.+?) actual=(.+)"
)
_NUMBER: Final = re.compile(r"\s*([0-9]{1,12})(?:[ \t]+\S+)?\s*")
"""A count as tools print it: alone, or before the name of what was counted."""
_LINES: Final = re.compile(r"\s*lines?\b", re.IGNORECASE)
# A time, a size, a share or an exit code is no count, whatever the command prints.
_UNIT: Final = re.compile(
    r"\s*(?:%|percent|×|[mnµu]?s\b|secs?\b|seconds?|min\b|minutes?|h\b|hours?|days?|[kmg]i?b\b)",
    re.IGNORECASE,
)
_CODED: Final = re.compile(r"\b(?:exits?|exit code|status)\b[^`\d]{0,30}$", re.IGNORECASE)
_ANY_DAY: Final = date(2026, 1, 1)
_TESTS: Final = re.compile(r"\btests?\b", re.IGNORECASE)


class Token(NamedTuple):
    """An agent's word that a number of the plan is not what it found."""

    phase: str
    bullet: int
    field: str
    plan: str
    actual: str


def tokens_in(lines: Iterable[str]) -> tuple[tuple[Token, ...], tuple[str, ...]]:
    """Read what agents said of drift; what cannot be read is returned as it was said."""
    read = {line: _TOKEN.fullmatch(line.strip()) for line in lines}
    tokens = (
        Token(found[1].lower(), int(found[2]), found[3].strip(), found[4].strip(), found[5].strip())
        for found in read.values()
        if found is not None
    )
    return tuple(dict.fromkeys(tokens)), tuple(line for line, found in read.items() if found is None)


class Course(StrEnum):
    """What becomes of a number that is not what the plan says."""

    CORRECT = "correct"
    """The criterion holds as it is worded; the number is put right at landing."""
    NOTE = "note"
    """The same, and a person is told."""
    LEAVE = "leave"
    """It holds, and was put right once before: a number is not written over again and again."""
    ASK = "ask"
    """The criterion does not hold as it is worded: only a person changes what it says."""
    STOP = "stop"
    """It does not hold, and was put right once before: it is not understood yet."""


class Number(NamedTuple):
    """A number that a criterion states, and what we measured of it."""

    item: int
    """As a verdict counts: work items, then criteria, from 1."""
    bullet: int
    """Among the criteria that hold a digit, from 1."""
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
    diff: str = ""
    """Its line before and after a correction; empty where no splice could make it."""

    @property
    def off_pct(self) -> int:
        """How far it is off, in whole percent; 0 within what is stated."""
        return drift(self.form, self.low, self.high, self.actual)

    @property
    def holds(self) -> bool:
        """Tell whether the criterion is met as it is worded. A bound is a bound; "about" has its band."""
        return self.off_pct <= (NOTED_PCT if self.form == "about" else 0)

    @property
    def words(self) -> str:
        """Say what differs."""
        return f"the plan says {self.stated}, and `{self.by}` gives {self.actual}"


def decide(number: Number) -> Course | None:
    """Choose what becomes of a number; None when there is nothing to say.

    One that holds is corrected only when an agent has pointed at it: "about 40" is true of 41.
    """
    if not number.holds:
        return Course.STOP if number.was_corrected else Course.ASK
    if number.off_pct == 0 or not number.is_flagged:
        return None
    if number.was_corrected or not number.diff:
        return Course.LEAVE
    return Course.CORRECT if number.off_pct <= QUIET_PCT else Course.NOTE


class Weighed(NamedTuple):
    """A verdict with its numbers."""

    verdict: Verdict
    asks: tuple[Number, ...] = ()
    """Those whose correction would turn it into a PASS: a person's to decide."""
    stops: tuple[Number, ...] = ()
    """Those that were corrected before and do not hold again."""


def weigh(  # noqa: PLR0913 - what a verdict is made of, and the numbers
    promises: Sequence[Promise],
    opinion: Opinion | None,
    held: Held,
    numbers: Sequence[Number],
    *,
    waivers: Mapping[int, Waiver],
    agreed: Mapping[int, Waiver],
    blamed: frozenset[int] = frozenset(),
) -> Weighed:
    """Judge every item by the text as it stands, and by the text as it would be with each number corrected.

    `agreed` has the items for which a person has said yes to just this number; `blamed` those whose number
    the verifier itself calls wrong, so that its FAIL is about the text.
    """
    broken = {one.item: one for one in numbers if not one.holds}
    against = {
        item: f"{one.words}; it is not met as it is worded"
        for item, one in broken.items()
        if item not in agreed or decide(one) is Course.STOP
    }
    accepted = {item: waiver for item, waiver in agreed.items() if item in blamed and item not in against}
    verdict = judge(promises, opinion, held._replace(against=against), waivers={**accepted, **waivers})
    as_corrected = judge(promises, opinion, held, waivers=waivers)
    turned = {one.item for one in as_corrected.items if one.outcome == "PASS"} | blamed
    unmet = {one.item for one in verdict.items if one.outcome != "PASS" and not one.waived}
    asks = tuple(
        one
        for one in numbers
        if one.item in unmet & turned and one.off_pct and one.diff and not one.was_corrected
    )
    is_all = not verdict.faults and unmet == {one.item for one in asks}
    stops = tuple(one for item, one in broken.items() if decide(one) is Course.STOP and item in unmet)
    return Weighed(verdict, asks if is_all else (), stops)


def corrections(numbers: Iterable[Number], agreed: Container[int]) -> Iterator[Number]:
    """List the numbers that are put right at landing: those that hold, and those that a person agreed to."""
    for one in numbers:
        if one.item in agreed or decide(one) in (Course.CORRECT, Course.NOTE):
            yield one


def notes_of(
    numbers: Sequence[Number], tokens: Iterable[Token], malformed: Sequence[str], phase: str
) -> Iterator[str]:
    """Say what a person is to know of numbers; none of it changes an outcome."""
    for one in numbers:
        if decide(one) in (Course.NOTE, Course.LEAVE):
            yield f"{one.words}, {one.off_pct} % off"
    if sum(one.off_pct > QUIET_PCT for one in numbers) >= _SEVERAL:
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


class Shown(NamedTuple):
    """What our own commands have shown of a tree."""

    outputs: Mapping[str, str] = {}
    """What each passed check printed, by its text."""
    passed: int | None = None
    """Tests that passed, where a suite ran."""


def numbers_in(plan: Plan, phase: Phase, shown: Shown, tokens: Iterable[Token] = ()) -> tuple[Number, ...]:
    """Measure every stated number that we can: one that quotes a check, by what the check printed.

    A number of tests is measured by the suite where an agent has pointed at it and counts as we do: which
    tests a criterion means, its words alone do not say.
    """
    flagged = {token.bullet: token for token in tokens if token.phase == phase.id}
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
                diff=_diff(plan, phase.id, bullet, claim, actual),
            )
        )
    return tuple(found)


def _counted(phase: Phase) -> Iterator[tuple[int, int, Criterion]]:
    """Count the criteria from 1, and those that hold a digit as corrections count them."""
    bullet = 0
    for at, criterion in enumerate(phase.criteria, 1):
        if any(char.isdigit() for char in criterion.text):
            bullet += 1
            yield at, bullet, criterion


def _around(plan: Plan, claim: Claim) -> tuple[str, str]:
    """Return what stands before and after the literal in its line."""
    source, line = plan.source, plan.source.line_of(claim.stated.start)
    start = source.starts[line]
    return source.text[start : claim.stated.start], source.text[
        claim.stated.end : start + len(source.lines[line].rstrip())
    ]


def _measured(plan: Plan, criterion: Criterion, claim: Claim, shown: Shown) -> tuple[int, str] | None:
    checks = [code for code in dict.fromkeys(CODE.findall(criterion.text)) if code in shown.outputs]
    before, after = _around(plan, claim)
    if len(checks) != 1 or _UNIT.match(after) or _CODED.search(before):
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
