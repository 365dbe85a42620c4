"""Which plans reviewers have, as rows: taken by one worker, and left alone by whoever read an older one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.approvals import ReviewAsked
from asbuilt.journal import reviews
from asbuilt.journal.events import history, open_plan
from asbuilt.journal.reviews import LookFailed, Review, Terms
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store

LONG_AGO, FAR = "2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"
FIRST = Review(*PLAN, "r1", 7, "https://forge/7", 1, "a" * 40, Terms((), "main", 30), due_at=LONG_AGO)
SECOND = FIRST._replace(question=2, head="b" * 40, due_at=FAR)


def _put(store: Store, review: Review) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        reviews.set_(session, review, actor="ann")


@pytest.mark.parametrize("where", ["postgres"], indirect=True)
def test_what_one_worker_has_taken_another_passes_over(store: Store) -> None:
    _put(store, FIRST)
    with store.write() as one, store.write() as other:
        taken = [reviews.next_due(session, PLAN.org, machine=None) for session in (one, other)]
    assert taken == [FIRST, None]


def test_a_text_that_was_put_to_reviewers_meanwhile_is_not_touched_by_a_look_at_the_one_before(
    store: Store,
) -> None:
    _put(store, FIRST)
    _put(store, SECOND)
    with store.write() as session:
        reviews.put_off(session, FIRST, until=LONG_AGO)
        reviews.looked(session, FIRST, until=LONG_AGO)
        reviews.record_failure(session, FIRST, failed=LookFailed("no"), until=LONG_AGO)
        reviews.close(session, FIRST, why="closed", actor="worker")
        assert reviews.find(session, PLAN) == SECOND
        assert [one.event for one in history(session, PLAN)] == [
            ReviewAsked(question=one.question, pull=one.pull, url=one.url) for one in (FIRST, SECOND)
        ]


def test_a_review_is_due_when_its_time_has_come_and_needs_a_worker_until_it_is_ended(store: Store) -> None:
    _put(store, FIRST)
    told = []
    with store.write() as session:
        for change in (
            lambda: reviews.put_off(session, FIRST, until=FAR),
            lambda: reviews.end(session, FIRST),
        ):
            told.append([asks(session, PLAN.org, machine=None) for asks in (reviews.is_due, reviews.is_any)])
            change()
        told.append([asks(session, PLAN.org, machine=None) for asks in (reviews.is_due, reviews.is_any)])
    assert told == [[True, True], [False, True], [False, False]]
