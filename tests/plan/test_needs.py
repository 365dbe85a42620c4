from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.plan.needs import may_start, open_needs

IDS = st.lists(st.sampled_from(("1", "2", "3a", "3b", "4")), unique=True)


def test_open_needs_are_those_that_are_not_done_in_the_plans_order() -> None:
    assert open_needs(("1", "2", "3a"), {"2"}) == ("1", "3a")


@given(IDS, IDS)
def test_a_phase_may_start_exactly_when_no_need_is_open(needs: list[str], done: list[str]) -> None:
    assert may_start(needs, done) == (open_needs(needs, done) == ())
