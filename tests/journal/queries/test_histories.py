"""What a worker remembers of a history is what the journal has, whatever became of it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.plans import PlanNoted
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.queries.overview import Histories, events_of
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Session, Store
    from asbuilt.journal.ids import Address


class ThoughtBetter(Exception):
    """Somebody gives a transaction up."""


def _say(session: Session, key: str, address: Address = PLAN) -> None:
    append(session, address, PlanNoted(note=key), key=key, actor="you")


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def _same(store: Store, blobs: Blobs, kept: Histories, address: Address = PLAN) -> list[str]:
    """Compare with a fresh look; return what was said."""
    with store.read() as session:
        told = kept.of(session, address)
        assert told == events_of(session, blobs, address)
    return [one.event.note for one in told if isinstance(one.event, PlanNoted)]


def test_what_is_new_is_added_to_what_was_read(store: Store, blobs: Blobs) -> None:
    kept = Histories(blobs)
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
    assert _same(store, blobs, kept) == []
    for key in "abc":
        with store.write() as session:
            _say(session, key)
        assert _same(store, blobs, kept)[-1] == key
    assert _same(store, blobs, kept) == ["a", "b", "c"]


def test_what_was_seen_in_a_transaction_that_came_to_nothing_is_forgotten(store: Store, blobs: Blobs) -> None:
    kept = Histories(blobs)
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        _say(session, "a")
    with pytest.raises(ThoughtBetter), store.write() as session:  # noqa: PT012 - undone by what is raised
        _say(session, "never")
        assert len(kept.of(session, PLAN)) == 2
        raise ThoughtBetter
    assert _same(store, blobs, kept) == ["a"]
    with store.write() as session:
        _say(session, "b")
    assert _same(store, blobs, kept) == ["a", "b"]


def test_a_store_that_was_set_back_is_read_anew(store: Store, blobs: Blobs) -> None:
    kept = Histories(blobs)
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        for key in "abc":
            _say(session, key)
    assert _same(store, blobs, kept) == ["a", "b", "c"]
    with store.write() as session:
        session.run("DELETE FROM events WHERE seq > 1")
        session.run("UPDATE heads SET seq = 1")
        for key in "xyz":
            _say(session, key)
    assert _same(store, blobs, kept) == ["a", "x", "y", "z"]


def test_of_many_plans_the_ones_that_were_asked_for_last_are_remembered(store: Store, blobs: Blobs) -> None:
    kept = Histories(blobs)
    plans = [PLAN._replace(plan=f"plans/{number}.md") for number in range(70)]
    for plan in plans:
        with store.write() as session:
            open_plan(session, plan, "some")
            _say(session, plan.plan, plan)
        assert _same(store, blobs, kept, plan) == [plan.plan]
    assert [_same(store, blobs, kept, plan) for plan in plans] == [[plan.plan] for plan in plans]
