"""Numbers that a plan states, against what we measured of the work. Pure.

The one rule: an agent can only point at a number. What it is we measure; where a verdict turns on what the
plan says of it, a person decides.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.plan.numbers.claims import drift
from asbuilt.proof.numbers.margins import NOTED_PCT, QUIET_PCT
from asbuilt.proof.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from asbuilt.plan.model import Form
    from asbuilt.proof.opinion import Opinion
    from asbuilt.proof.verdict import Held, Promise, Verdict, Waiver


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
    is_blamed: bool = False
    """The verifier has: a FAIL of its criterion is about the text."""
    diff: str = ""
    """Its line before and after a correction; empty where no splice could make it."""
    text: str = ""
    """The criterion."""

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
    if not is_correctable(number):
        return Course.LEAVE
    return Course.CORRECT if number.off_pct <= QUIET_PCT else Course.NOTE


def far_off(numbers: Iterable[Number]) -> int:
    """Count those that are further off than is corrected without a word."""
    return sum(one.off_pct > QUIET_PCT for one in numbers)


class Weighed(NamedTuple):
    """A verdict with its numbers."""

    verdict: Verdict
    asks: tuple[Number, ...] = ()
    """Those whose correction would turn it into a PASS: a person's to decide."""
    stops: tuple[Number, ...] = ()
    """Those that were corrected before, do not hold again, and that an agent would correct once more."""


def weigh(
    promises: Sequence[Promise],
    opinion: Opinion | None,
    held: Held,
    numbers: Sequence[Number],
    *,
    waivers: Mapping[int, Waiver],
) -> Weighed:
    """Judge every item by the text as it stands, and by the text as it would be with each number corrected.

    What is `against` an item is held already, and what a person has agreed to is among the waivers.
    """
    verdict = judge(promises, opinion, held, waivers=waivers)
    as_corrected = judge(promises, opinion, held._replace(against={}), waivers=waivers)
    unmet = {one.item for one in verdict.items if one.outcome != "PASS" and not one.waived}
    passes = {one.item for one in as_corrected.items if one.outcome == "PASS"}
    unmet_numbers = [one for one in numbers if one.item in unmet and one.off_pct]
    asks = tuple(
        one for one in unmet_numbers if (one.item in passes or one.is_blamed) and is_correctable(one)
    )
    is_all = not verdict.faults and unmet == {one.item for one in asks}
    stops = tuple(one for one in unmet_numbers if decide(one) is Course.STOP and one.is_flagged)
    return Weighed(verdict, asks if is_all else (), stops)


def is_correctable(number: Number) -> bool:
    """Tell whether a splice can put it right, and none has before."""
    return bool(number.diff) and not number.was_corrected


def against(numbers: Iterable[Number], agreed: Container[int]) -> dict[int, str]:
    """Say which items our measuring speaks against, and how; `agreed` has those that a person has settled."""
    return {
        one.item: f"{one.words}; it is not met as it is worded"
        for one in numbers
        if not one.holds and not (one.item in agreed and is_correctable(one))
    }


def accepted(numbers: Iterable[Number], agreed: Mapping[int, Waiver]) -> dict[int, Waiver]:
    """List the items that the verifier fails for a number to which a person has agreed."""
    return {
        one.item: agreed[one.item]
        for one in numbers
        if one.is_blamed and one.item in agreed and is_correctable(one)
    }


def corrections(numbers: Iterable[Number], agreed: Container[int]) -> Iterator[Number]:
    """List the numbers that are put right at landing: those that hold, and those that a person agreed to."""
    for one in numbers:
        if one.item in agreed or decide(one) in (Course.CORRECT, Course.NOTE):
            yield one
