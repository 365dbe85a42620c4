"""A kept fold shows what the journal has, whatever became of it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, AttemptEnded
from asbuilt.events.plain import read_options
from asbuilt.events.plans import PlanNoted
from asbuilt.events.runs import RunStarted
from asbuilt.journal import runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import append
from asbuilt.journal.queries.folds import Folds
from asbuilt.journal.queries.overview import facts_of, plan_view
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.events.event import Event
    from asbuilt.journal.database.store import Session, Store

COURSE: list[Event] = [
    RunStarted(base="0" * 40, phases={"1": ()}, titles={"1": "Token bucket"}),
    AttemptBegun(phase="1", number=1, role="implement"),
    PlanNoted(note="use the clock of the store"),
    AttemptEnded(phase="1", number=1, ending="done", attempt="1.1", cost_usd=0.4),
]


def say(session: Session, event: Event, key: str, run: str = "r1") -> None:
    append(session, PLAN, event, key=key, actor="you", run=run)


def request(session: Session, run: str) -> None:
    options = read_options({"slug": "rate-limit", "mode": "finish"})
    runs.request(session, PLAN, run=run, slug="rate-limit", options=options, actor="you")


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def check(store: Store, blobs: Blobs, kept: Folds) -> None:
    """Compare a kept fold with a fresh read."""
    with store.read() as session:
        fresh = plan_view(session, blobs, PLAN)
        assert plan_view(session, blobs, PLAN, kept) == fresh
        for run in runs.of_plan(session, PLAN):
            assert kept.facts(session, run) == facts_of(session, blobs, run)


def test_events_of_several_runs_are_added_to_what_was_folded(store: Store, blobs: Blobs) -> None:
    kept = Folds(blobs)
    for run in ("r1", "r2"):
        with store.write() as session:
            request(session, run)
        for number, event in enumerate(COURSE):
            with store.write() as session:
                say(session, event, f"{run}/{number}", run)
            check(store, blobs, kept)


def test_a_restored_store_is_folded_again(store: Store, blobs: Blobs) -> None:
    kept = Folds(blobs)
    with store.write() as session:
        request(session, "r1")
        for number, event in enumerate(COURSE):
            say(session, event, f"r1/{number}")
    check(store, blobs, kept)
    with store.write() as session:
        session.run("DELETE FROM events WHERE seq > 3")
        session.run("UPDATE heads SET seq = 3")
        for number in range(3):
            say(session, PlanNoted(note=f"note {number}"), f"later/{number}")
    check(store, blobs, kept)
