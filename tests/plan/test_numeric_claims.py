from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.errors import UsageWrong
from asbuilt.plan.numeric_claims import NEVER, corrected, drift, evaluate, rules_in, stated_in

if TYPE_CHECKING:
    from asbuilt.plan.model import Form

NUMBERS = st.integers(0, 10**12 - 1)
SPACE = st.sampled_from(("", " ", "  ", "\t"))
FORMS: tuple[Form, ...] = ("range", "at_most", "at_least", "about", "exactly")


@given(NUMBERS, st.lists(st.tuples(SPACE, st.sampled_from("+-"), SPACE, NUMBERS), max_size=6))
def test_a_sum_is_computed_as_on_paper(first: int, rest: list[tuple[str, str, str, int]]) -> None:
    expression = str(first) + "".join(f"{left}{sign}{right}{number}" for left, sign, right, number in rest)
    assert evaluate(expression) == first + sum(
        -number if sign == "-" else number for _, sign, _, number in rest
    )


@given(st.text(alphabet="0123456789+- *()/.,e_\u0661²", max_size=12))
def test_anything_but_digits_plus_minus_and_space_is_refused(expression: str) -> None:
    try:
        value = evaluate(expression)
    except UsageWrong:
        return
    assert set(expression) <= set("0123456789+- ")
    # The reference sums signed terms; it never evaluates text either.
    signed = expression.replace(" ", "").replace("-", "+-").removeprefix("+").split("+")
    assert value == sum(int(term) for term in signed)


@pytest.mark.parametrize(
    "expression", ["", " ", "1 2", "1 +", "+", "1 -- 2", "9" * 13, "1 * 2", "__import__('os')", "٣"]
)
def test_what_is_no_sum_is_refused(expression: str) -> None:
    with pytest.raises(UsageWrong):
        evaluate(expression)


def reference(form: Form, low: int | None, high: int | None, value: int) -> int:
    """Measure by fractions what `drift` measures in whole numbers."""
    inside = (low is None or value >= low) and (high is None or value <= high)
    if inside:
        return 0
    bound = low if low is not None and value < low else high
    if form == "exactly" or not bound:
        return NEVER
    return min(NEVER, ceil(Fraction(abs(value - bound) * 100, bound)))


@given(st.sampled_from(FORMS), st.integers(0, 2_000), st.integers(0, 2_000), st.integers(-50, 5_000))
def test_drift_is_the_distance_to_the_nearest_bound_in_percent_rounded_up(
    form: Form, one: int, other: int, value: int
) -> None:
    low: int | None = min(one, other)
    high: int | None = max(one, other) if form == "range" else low
    if form == "at_most":
        low = None
    elif form == "at_least":
        high = None
    assert drift(form, low, high, value) == reference(form, low, high, value)


@given(st.sampled_from(FORMS), st.integers(0, 10**6))
def test_a_corrected_literal_states_the_measured_number(form: Form, actual: int) -> None:
    literal = corrected(form, actual)
    told = stated_in(
        {"at_most": "≤", "at_least": "≥", "exactly": "exactly "}.get(form, "~" * (form != "range"))
        + literal
        + " x"
    )
    assert told is not None
    assert told.form == form
    assert drift(form, told.low, told.high, actual) == 0


def test_a_number_without_end_is_no_claim_and_no_crash() -> None:
    assert stated_in("about 1" + ",000" * 5_000 + " rows") is None
    assert stated_in("9" * 100_000) is None
    assert rules_in("9" * 5_000 + " + 1") == []


def test_a_sum_of_many_terms_is_found_in_no_time_also_when_it_ends_badly() -> None:
    terms = "1 + " * 5_000
    assert [rule.value for rule in rules_in(terms + "1x")] == [4_999 + 1]
