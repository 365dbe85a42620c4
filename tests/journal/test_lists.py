"""Lists that are found by an index are the lists that were meant."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from asbuilt.events.options import RunOptions
from asbuilt.events.plans import PlanMarked, PlanNoted
from asbuilt.journal import approvals, runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.events import append, history, last, open_plan
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.journal.queries import plan_names
from tests.journal.conftest import PLAN, open_store

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run

_OTHER = PLAN._replace(plan="plans/login.md")


def _requested(store: Store, address: Address, run: str) -> Run:
    with store.write() as session:
        return runs.request(session, address, run=run, slug=run[:-1], options=RunOptions(), actor="you")


def _set(store: Store, run: Run, state: str) -> None:
    with store.write() as session:
        runs.set_state(session, run, state)


def _unfinished(store: Store) -> list[str]:
    with store.read() as session:
        return [run.run for run in runs.unfinished(session, LOCAL, PLAN.repo)]


def test_an_event_that_is_appended_again_takes_no_number(store: Store) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        first = append(session, PLAN, PlanNoted(note="one"), key="a", actor="you")
        again = append(session, PLAN, PlanMarked(), key="a", actor="me")
        then = append(session, PLAN, PlanMarked(), key="b", actor="you")
    assert (again, first.seq, then.seq) == (first, 1, 2)


def test_a_page_is_the_last_events_before_one(store: Store) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        for number in range(1, 8):
            append(session, PLAN, PlanMarked(), key=str(number), actor="you")
    with store.read() as session:
        assert last(session, PLAN, limit=3) == history(session, PLAN)[4:]
        assert last(session, PLAN, before=5, limit=3) == history(session, PLAN)[1:4]
        assert last(session, PLAN, before=2, limit=3) == history(session, PLAN)[:1]


def test_what_can_go_on_is_the_newest_run_of_a_plan_that_failed_or_is_not_over(store: Store) -> None:
    failed = _requested(store, PLAN, "rate1")
    assert _unfinished(store) == ["rate1"]
    _set(store, failed, "failed")
    assert _unfinished(store) == ["rate1"]
    landed = _requested(store, PLAN, "rate2")
    _set(store, landed, "landed")
    _set(store, failed, "running")
    assert _unfinished(store) == [], "an older run says nothing of its plan"
    _set(store, _requested(store, _OTHER, "login1"), "waiting")
    assert _unfinished(store) == ["login1"]


def test_an_undo_that_failed_leaves_the_plan_in_its_state_of_before(store: Store) -> None:
    landed = _requested(store, PLAN, "rate1")
    _set(store, landed, "landed")
    with store.write() as session:
        options = RunOptions(kind="undo")
        undo = runs.request(session, PLAN, run="rate2", slug="rate", options=options, actor="you")
        runs.set_state(session, undo, "failed")
    _set(store, _requested(store, PLAN, "rate3"), "done")
    with store.read() as session:
        every = runs.of_plan(session, PLAN)
        (head,) = session.rows("SELECT state FROM heads")
    names = [found and found.run for found in (runs.standing(every), runs.vain_undo(every))]
    assert (head["state"], names, _unfinished(store)) == ("landed", ["rate1", "rate2"], [])


def test_a_journal_of_before_is_told_what_can_go_on(where: str) -> None:
    old = open_store(where)
    old.migrate(STEPS[:1])
    with old.write() as session:
        for plan, number, state in ((PLAN, 1, "failed"), (PLAN, 2, "landed"), (_OTHER, 1, "stopped")):
            open_plan(session, plan, "some")
            session.run(
                "INSERT INTO runs (org, repo, run, plan, number, state, needs, options, at)"
                " VALUES (:org, :repo, :run, :plan, :number, :state, 1, '{}', :at)",
                **plan._asdict(),
                run=f"{plan.plan}{number}",
                number=number,
                state=state,
                at=session.now,
            )
            session.run("UPDATE heads SET runs = :number WHERE plan = :plan", number=number, plan=plan.plan)
    old.migrate(STEPS)
    assert _unfinished(old) == ["plans/login.md1"]
    old.close()


def test_a_plan_is_found_by_its_path_else_by_its_whole_name(store: Store) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        open_plan(session, _OTHER, "login")
        open_plan(session, PLAN._replace(plan="login"), "else")
    with store.read() as session:
        found = plan_names.called(session, LOCAL, PLAN.repo, path="login", slug="login")
        by_name = plan_names.called(session, LOCAL, PLAN.repo, path="rate", slug="rate-limit")
        part = plan_names.called(session, LOCAL, PLAN.repo, path="rate", slug="rate")
    assert (found, by_name, part) == ([("login", "else")], [(PLAN.plan, "rate-limit")], [])


def test_a_run_finds_its_own_question_among_more_than_a_page_of_others(store: Store) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        for number in range(205):
            wish = approvals.Wish(f"r{number}", "continue", "go on?")
            approvals.ask(session, PLAN, key=f"r{number}/between/2", wish=wish, actor="asbuilt")
    with store.read() as session:
        asked = approvals.waiting_of(session, LOCAL, PLAN.repo, "r204")
    assert [one.number for one in asked] == [205]


def test_plans_that_ask_at_once_get_a_number_each(store: Store) -> None:
    addresses = [PLAN._replace(plan=f"plans/{number}.md") for number in range(8)]
    with store.write() as session:
        for address in addresses:
            open_plan(session, address, "some")

    def ask(address: Address) -> list[int]:
        numbers = []
        for turn in range(10):
            wish = approvals.Wish(address.plan, "continue", "go on?")
            with store.write() as session:
                key = f"{address.plan}/{turn}"
                numbers.append(approvals.ask(session, address, key=key, wish=wish, actor="asbuilt").number)
        return numbers

    with ThreadPoolExecutor(8) as pool:
        numbers = [number for given in pool.map(ask, addresses) for number in given]
    assert sorted(numbers) == [*range(1, 81)]
