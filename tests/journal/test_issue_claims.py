"""A plan's issues are its own across runs, until it is complete, stopped or broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.options_json import read_options
from asbuilt.events.pulls import IssueHeld
from asbuilt.flows.requests import Asker, Declined, request, take_away
from asbuilt.flows.run_end import end
from asbuilt.journal import issue_claims
from asbuilt.journal.events import whole_history
from asbuilt.journal.ids import Address

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run

LIMIT, OTHER = Address("local", "repo", "plans/limit.md"), Address("local", "repo", "plans/other.md")
ASKER = Asker("ada", "laptop", {})


def asked(store: Store, rooms: Path, address: Address, *numbers: int) -> Run:
    options = {"kind": "run", "mode": "finish", "slug": "x", "issues": list(numbers)}
    run = request(store, rooms, address, slug="x", options=read_options(options), asker=ASKER)
    assert not isinstance(run, Declined)
    with store.write() as session:
        issue_claims.acquire(session, address, numbers, run=run.run, actor="asbuilt")
    return run


def over(store: Store, run: Run, state: str, *, completed: bool = False) -> None:
    with store.write() as session:
        end(session, run, state, "", is_complete=completed)


def held(store: Store, address: Address) -> list[int]:
    with store.read() as session:
        every = issue_claims.every(session, address.org, address.repo)
    return [one.number for one in every if one.plan == address.plan]


def test_issues_stay_with_their_plan_between_its_runs(store: Store, tmp_path: Path) -> None:
    run = asked(store, tmp_path, LIMIT, 12, 7, 12)
    over(store, run, "held")
    assert held(store, LIMIT) == [7, 12]
    asked(store, tmp_path, LIMIT, 12)
    assert held(store, LIMIT) == [7, 12]


def test_a_run_goes_on_without_an_issue_that_another_plan_has_and_says_so(
    store: Store, tmp_path: Path
) -> None:
    first = asked(store, tmp_path, LIMIT, 7)
    second = asked(store, tmp_path, OTHER, 7, 8)
    assert (held(store, LIMIT), held(store, OTHER)) == ([7], [8])
    with store.read() as session:
        told = [
            (one.event.number, one.event.plan, one.run)
            for one in whole_history(session, OTHER)
            if isinstance(one.event, IssueHeld)
        ]
    assert told == [(7, LIMIT.plan, second.run)]
    over(store, first, "landed", completed=True)
    over(store, second, "held")
    asked(store, tmp_path, OTHER, 7, 8)
    assert (held(store, LIMIT), held(store, OTHER)) == ([], [7, 8])


def test_a_plan_lets_go_when_it_is_complete_stopped_or_broken_and_not_before(
    store: Store, tmp_path: Path
) -> None:
    over(store, asked(store, tmp_path, LIMIT, 7), "landed")
    assert held(store, LIMIT) == [7]
    over(store, asked(store, tmp_path, LIMIT, 7), "failed")
    assert held(store, LIMIT) == [7]
    over(store, asked(store, tmp_path, LIMIT, 7), "stopped")
    assert held(store, LIMIT) == []
    over(store, asked(store, tmp_path, LIMIT, 7), "landed", completed=True)
    assert held(store, LIMIT) == []
    asked(store, tmp_path, LIMIT, 7)
    with store.write() as session:
        take_away(session, LIMIT, reason="gone", asker=ASKER)
    assert held(store, LIMIT) == []
