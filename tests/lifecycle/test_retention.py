from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.retention import Goes, Stays, landings, of_age, of_attempt
from tests.support.happened import happened

NOW = datetime(2026, 11, 15, 2, tzinfo=UTC)
moments = st.integers(0, 100 * 24 * 60).map(lambda minutes: NOW - timedelta(minutes=minutes))


@given(began=moments, landed=st.none() | moments, days=st.integers(0, 60))
def test_files_of_an_attempt_go_only_when_its_phase_has_landed_since_and_long_enough_ago(
    began: datetime, landed: datetime | None, days: int
) -> None:
    fate = of_attempt(
        "2a",
        began_at=began.isoformat(),
        landed_at=None if landed is None else landed.isoformat(),
        now=NOW.isoformat(),
        days=days,
    )
    safe = landed is not None and began <= landed and NOW - landed >= timedelta(days=days)
    assert isinstance(fate, Goes if safe else Stays)


def test_the_proof_and_the_reason_are_said_in_days() -> None:
    def fate(days_ago: int) -> Goes | Stays:
        at = (NOW - timedelta(days=days_ago, hours=1)).isoformat()
        return of_age("phase 2a landed", at, now=NOW.isoformat(), days=30)

    assert [fate(1), fate(29), fate(30)] == [
        Stays("phase 2a landed 1 day ago; deleted after 30 days"),
        Stays("phase 2a landed 29 days ago; deleted after 30 days"),
        Goes("phase 2a landed 30 days ago"),
    ]


def test_a_landing_that_was_taken_back_does_not_count() -> None:
    events: list[tuple[str, dict[str, Any]]] = [
        (
            "landing.done",
            {"at": "t1", "new": "n", "commits": [["1", "r1", "c1", "s1"], ["2", "r1", "c2", "s2"]]},
        ),
        ("landing.undone", {"at": "t2", "commits": ["c2"]}),
        ("landing.done", {"at": "t3", "new": "n", "commits": [["3", "r3", "c3", "s3"]]}),
    ]
    assert landings(happened(events)) == {"1": "t1", "3": "t3"}
