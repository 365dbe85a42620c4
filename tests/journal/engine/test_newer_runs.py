"""A run that a newer asbuilt started: an older worker leaves it alone, and older screens say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.options import RunOptions
from asbuilt.journal import runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.engine import segments
from asbuilt.journal.ids import new_id
from asbuilt.journal.queries.overview import plan_view
from asbuilt.lifecycle.status.run_state import NEEDS_NEWER
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Store


def _request(store: Store, *, needs: int) -> str:
    with store.write() as session:
        options = RunOptions(slug="rate-limit")
        return runs.request(
            session, PLAN, run=new_id(), slug="rate-limit", options=options, actor="you", needs=needs
        ).run


def test_a_worker_leaves_a_run_alone_that_needs_a_newer_one(store: Store) -> None:
    _request(store, needs=runs.KNOWN_NEEDS + 1)
    known = _request(store, needs=runs.KNOWN_NEEDS)
    with store.read() as session:
        assert [one.run for one in segments.asked(session, PLAN.org, machine=None)] == [known]


def test_a_run_of_a_kind_that_is_not_known_is_listed_and_says_what_it_needs(
    store: Store, tmp_path: Path
) -> None:
    run = _request(store, needs=runs.KNOWN_NEEDS + 1)
    with store.write() as session:
        options = '{"slug": "rate-limit", "kind": "orchestra", "players": [1]}'
        session.run("UPDATE runs SET options = :options WHERE run = :run", options=options, run=run)
        view = plan_view(session, Blobs(tmp_path / "blobs"), PLAN)
    assert view is not None
    assert view.run is not None
    assert (view.run.name, view.run.waits_for.kind, view.run.waits_for.why) == (
        "rate-limit.1",
        "person",
        NEEDS_NEWER,
    )
