"""Weigh one demand against another, in any language: is it weaker, looser, other, or as good?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.model import Assertion, Kind, Rank, Severity, Test
from asbuilt.proof.suites.places import is_in_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

Weighed = tuple[Kind, Severity, str]
_UPPER: Final = frozenset(("<", "<="))
_LOWER: Final = frozenset((">", ">="))
_WIDEST: Final = ("BaseException", "Exception", "Throwable", "Error", "RuntimeException")
OTHER_INPUT: Final = ": with other input"
"""Said once a test: what a test is given is often given to all that it checks."""
_NEAR: Final = 1e-6
"""Up to here, nearness instead of equality is how floats are compared; still, somebody should know."""


def likeness(one: Test, other: Test) -> float:
    """Say how much two tests are one: by the names and literals that they share."""
    if not one.words or not other.words:
        return 0.0
    return len(one.words & other.words) / len(one.words | other.words)


def implied(lost: Assertion, new: Sequence[Assertion], whole: Sequence[Assertion]) -> bool:
    """Tell whether a demand is met by others that say more, or the same in several parts."""
    if lost.form == "!=" and lost.rank == Rank.TRUE:
        # What has parts is something.
        return any(
            other.subject.startswith((f"{lost.subject}.", f"{lost.subject}[")) and other.void is None
            for other in whole
        )
    parts = [
        other
        for other in new
        if other.void is None and other.rank >= lost.rank and lost.subject and other.subject
    ]
    inside = [other for other in parts if _is_part(other.subject, lost.subject) and other.expected]
    if (
        lost.literals
        and len(inside) > 1
        and frozenset[str]().union(*(one.literals for one in inside)) >= lost.literals
    ):
        return True
    return any(
        _is_part(lost.subject, other.subject)
        and other.form == "=="
        and len(other.literals) > 1
        and (lost.literals <= other.literals or lost.subject.startswith("len("))
        for other in parts
    )


def nearness(one: Assertion, other: Assertion) -> tuple[int, ...]:
    """Say how near a demand is to another, the most telling first."""
    return (
        one.subject == other.subject,
        one.form == other.form and one.expected == other.expected,
        one.subject in other.subject or other.subject in one.subject,
        len(one.calls & other.calls),
        one.form == other.form,
        other.void is None,
        -abs(one.rank - other.rank),
        len(one.given & other.given),
    )


def may_be_a_case(lost: Assertion, other: Assertion) -> bool:
    """Tell whether a demand may be one case of another whose cases are computed."""
    return other.void is None and other.rank >= lost.rank and lost.calls <= other.calls


def tabled(lost: Assertion, row: Assertion) -> bool:
    """Tell whether a row of a table of cases says the same as a demand that was spelled out."""
    said = lost.given | lost.literals
    return bool(said) and said <= row.literals


def _is_part(part: str, whole: str) -> bool:
    return part != whole and whole in part


def weighed(one: Assertion, other: Assertion) -> Weighed | None:
    """Say what is wrong with the second in place of the first; None: nothing."""
    if one.void is not None:
        return None
    if other.void is not None:
        return other.void[0], Severity.FAILS, f"{other.text}: {other.void[1]}"
    if other.guard and not one.guard:
        return Kind.NOT_ALWAYS_CHECKED, Severity.FAILS, f"{other.text}, only if {other.guard}"
    if one.form == other.form and one.form in ("raises", "warns"):
        return _raised(one, other)
    if one.calls and other.calls and not one.calls & other.calls and any(map(is_in_tests, other.calls)):
        return Kind.PRODUCT_REPLACED, Severity.SIGN_OFF, f"{other.text}: it asks something of the tests"
    asked = other.circular and (not one.literals <= other.literals or other.subject in other.expected)
    if asked and not one.circular:
        return (
            Kind.COMPARED_WITH_ITSELF,
            Severity.FAILS,
            f"{other.text}: the product says what is expected of it",
        )
    if other.rank == Rank.CLOSE:
        return _near(one, other)
    if one.bound is not None and one.subject == other.subject and one.form == other.form:
        return _bounded(one, other)
    if other.rank < one.rank:
        return Kind.ASSERTION_WEAKENED, Severity.FAILS, other.text
    if other.rank > one.rank:
        # A stronger demand on something else takes nobody's place.
        return None if one.calls <= other.calls else _changed(one, other)
    if _is_part(other.subject, one.subject) and one.expected != other.expected:
        return Kind.ASSERTION_WEAKENED, Severity.FAILS, f"{other.text}: only a part is checked"
    return _changed(one, other)


def _raised(one: Assertion, other: Assertion) -> Weighed | None:
    kinds, _, pattern = one.expected.partition("|")
    now, _, now_pattern = other.expected.partition("|")
    if kinds and not now:
        return Kind.ASSERTION_WEAKENED, Severity.FAILS, f"{other.text}: what is thrown is not looked at"
    if kinds != now:
        wider = now.rpartition(".")[2] in _WIDEST or (kinds in now and "," in now)
        if wider:
            return Kind.EXCEPTION_WIDENED, Severity.FAILS, other.text
        return Kind.EXPECTATION_CHANGED, Severity.SIGN_OFF, other.text
    if pattern and not now_pattern:
        return Kind.ASSERTION_WEAKENED, Severity.FAILS, f"{other.text}: what it says is not looked at"
    if pattern and pattern.strip("\"'") not in now_pattern:
        return Kind.EXPECTATION_CHANGED, Severity.SIGN_OFF, f"{other.text}: {now_pattern}"
    return None


def _near(one: Assertion, other: Assertion) -> Weighed | None:
    loose = other.tolerance
    if one.rank > Rank.CLOSE:
        severity = Severity.SIGN_OFF if loose is not None and loose <= _NEAR else Severity.FAILS
        return Kind.TOLERANCE_LOOSENED, severity, other.text
    if one.rank < Rank.CLOSE:
        return None
    if loose is None or one.tolerance is None:
        return None if one.text == other.text else (Kind.EXPECTATION_CHANGED, Severity.SIGN_OFF, other.text)
    if loose > one.tolerance * (1 + 1e-9):
        return Kind.TOLERANCE_LOOSENED, Severity.FAILS, other.text
    return _changed(one, other)


def _bounded(one: Assertion, other: Assertion) -> Weighed | None:
    if one.bound is None or other.bound is None or one.bound == other.bound:
        return None
    looser = other.bound > one.bound if one.form in _UPPER else other.bound < one.bound
    return (Kind.TOLERANCE_LOOSENED, Severity.FAILS, other.text) if looser else None


def _changed(one: Assertion, other: Assertion) -> Weighed | None:
    """Compare two demands of the same weight: other literals are another expectation, other names are not."""
    if one.form != other.form and {one.form, other.form} <= {"true", "false"}:
        return Kind.EXPECTATION_CHANGED, Severity.SIGN_OFF, other.text
    if one.literals != other.literals or (one.subject == other.subject and one.expected != other.expected):
        return Kind.EXPECTATION_CHANGED, Severity.SIGN_OFF, other.text
    if one.given != other.given:
        return Kind.EXPECTATION_CHANGED, Severity.SIGN_OFF, f"{other.text}{OTHER_INPUT}"
    return None
