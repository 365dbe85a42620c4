"""What a run teaches is kept when it ends, once, on each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.attempts import ChecksDone
from asbuilt.events.options import RunOptions
from asbuilt.flows.run.record import append_event
from asbuilt.flows.run_end import end
from asbuilt.journal import memory, runs
from asbuilt.journal.ids import LOCAL, Address, new_id
from tests.journal.conftest import postgres, store, where

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store

__all__ = ["postgres", "store", "where"]
PLAN = Address(LOCAL, "6f9c", "plans/rate-limit.md")


def test_a_run_that_ends_leaves_why_it_was_not_proven(store: Store) -> None:
    number = new_id()
    with store.write() as session:
        runs.request(
            session, PLAN, run=number, slug="rate-limit", options=RunOptions(slug="rate-limit"), actor="you"
        )
        run = runs.find(session, LOCAL, PLAN.repo, number)
        assert run is not None
        failures = ("tests: FAIL, 2 of 9 failed in tests/limits/test_store.py",)
        checked = ChecksDone(phase="2a", number=1, outcome="FAIL", failures=failures)
        append_event(session, run, checked, "2a/1/checks")
        end(session, run, "failed", "not proven")
    with store.write() as session:
        end(session, run, "failed", "not proven")
    with store.read() as session:
        known = memory.every(session, LOCAL, PLAN.repo)
    assert [(one.kind, one.text, one.files, one.plan, one.by) for one in known] == [
        (
            "lesson",
            "rate-limit, phase 2a: tests: FAIL, 2 of 9 failed in tests/limits/test_store.py",
            ("tests/limits/test_store.py",),
            PLAN.plan,
            "asbuilt",
        )
    ]
