from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.run.retry_times import again_at, reopens_at

NOW = "2026-11-15T02:00:00.000Z"


@pytest.mark.parametrize(
    ("said", "opens"),
    [
        ("2026-11-15T02:00:03.250+00:00", "2026-11-15T02:00:03.250Z"),
        ("2026-11-15T04:30:00+02:00", "2026-11-15T02:30:00.000Z"),
        ("2026-11-15T03:00:00", "2026-11-15T03:00:00.000Z"),
        ("2026-11-15T01:59:00Z", "2026-11-15T02:01:00.000Z"),
        ("tomorrow", "2026-11-15T02:15:00.000Z"),
        (None, "2026-11-15T02:15:00.000Z"),
    ],
)
def test_a_limit_is_tried_again_when_it_opens_or_after_a_while(said: str | None, opens: str) -> None:
    assert reopens_at(said, NOW) == opens


@given(st.none() | st.text() | st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat))
def test_a_limit_is_never_tried_again_at_once(said: str | None) -> None:
    assert reopens_at(said, NOW) > NOW


@given(st.integers(min_value=0, max_value=100))
def test_each_retry_comes_later_than_the_one_before(troubles: int) -> None:
    assert NOW < again_at(troubles, NOW) <= again_at(troubles + 1, NOW) <= "2026-11-15T03:00:00.000Z"
