"""Compare the numbers that a plan states with what asbuilt measured. Pure.

Rule: an agent can only point at a number. asbuilt measures it, and where a verdict depends on the plan's
text about it, the user decides.
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
    """The criterion."""

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
    return sum(one.off_pct > QUIET_PCT for one in numbers)


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
    """Return whether it can be corrected in place and was not corrected before."""
    return bool(number.diff) and not number.was_corrected


def against(numbers: Iterable[Number], agreed: Container[int]) -> dict[int, str]:
    """Return the items that a measurement contradicts, with reasons; `agreed` has items the user settled."""
    return {
        one.item: f"{one.words}; it is not met as it is worded"
        for one in numbers
        if not one.holds and not (one.item in agreed and is_correctable(one))
    }


def accepted(numbers: Iterable[Number], agreed: Mapping[int, Waiver]) -> dict[int, Waiver]:
    """Return the items that the verifier fails for a number to which the user has agreed."""
    return {
        one.item: agreed[one.item]
        for one in numbers
        if one.is_blamed and one.item in agreed and is_correctable(one)
    }


def corrections(numbers: Iterable[Number], agreed: Container[int]) -> Iterator[Number]:
    """Yield the numbers to correct at landing: those that hold, and those that the user agreed to."""
    for one in numbers:
        if one.item in agreed or decide(one) in (Course.CORRECT, Course.NOTE):
            yield one
