"""A kept fold shows what the journal has, whatever became of it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, AttemptEnded
from asbuilt.events.options_json import read_options
from asbuilt.events.plans import PlanNoted
from asbuilt.events.runs import RunStarted
from asbuilt.journal import runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import append
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queries.overview import facts_of, plan_view
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.events.event import Event
    from asbuilt.journal.database.store import Session, Store
    from asbuilt.journal.runs import Run

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


class GivenUp(Exception):
    """A transaction is rolled back."""


def test_events_of_a_transaction_that_was_rolled_back_are_forgotten(store: Store, blobs: Blobs) -> None:
    kept = Folds(blobs)
    with store.write() as session:
        request(session, "r1")
        say(session, COURSE[0], "r1/0")
    with store.read() as session:
        (run,) = runs.of_plan(session, PLAN)
    with pytest.raises(GivenUp), store.write() as session:  # noqa: PT012 - rolled back by what is raised
        say(session, COURSE[1], "r1/never")
        assert [attempt.number for attempt in kept.facts(session, run).phases["1"].attempts] == [1]
        raise GivenUp
    check(store, blobs, kept)
    with store.write() as session:
        say(session, PlanNoted(note="another event in its place"), "r1/1")
    check(store, blobs, kept)


def test_the_most_recently_read_plans_of_many_are_kept(store: Store, blobs: Blobs) -> None:
    kept = Folds(blobs)
    every: list[Run] = []
    for number in range(70):
        plan, run = PLAN._replace(plan=f"plans/{number}.md"), f"run-{number}"
        options = read_options({"slug": f"{number}", "mode": "finish"})
        with store.write() as session:
            runs.request(session, plan, run=run, slug=f"{number}", options=options, actor="you")
            append(session, plan, PlanNoted(note=plan.plan), key="note", actor="you", run=run)
            every += runs.of_plan(session, plan)
            kept.facts(session, every[-1])
    with store.read() as session:
        assert [kept.facts(session, run).pending_notes for run in every] == [
            [f"plans/{number}.md"] for number in range(70)
        ]
