from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from asbuilt._version import VERSION
from asbuilt.cli.commands.doctor.probes import look_at_store
from asbuilt.errors import JournalNewer, StoreFailed
from asbuilt.events.event import Unknown
from asbuilt.events.options import RunOptions
from asbuilt.events.plans import PlanNoted
from asbuilt.events.runs import RunRequested
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import unusable
from asbuilt.journal.engine import segments
from asbuilt.journal.events import append, history, open_plan
from asbuilt.journal.home import Home
from asbuilt.journal.ids import Address, Segment, new_id
from asbuilt.journal.queries import inventory
from asbuilt.settings import load
from tests.journal.conftest import PLAN, open_store
from tests.journal.test_words import TOO_LONG
from tests.support.happened import plain

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.journal.database.store import Session, Store


def _toy(kind: str = "toy", **data: object) -> Unknown:
    return Unknown(name=kind, number=1, data=data)


def _known(store: Store, address: Address = PLAN) -> None:
    with store.write() as session:
        open_plan(session, address, "rate-limit")


def _tick(store: Store) -> None:
    """Wait until the database's clock tells a later time."""
    began = _now(store)
    while _now(store) == began:
        pass


def _now(store: Store) -> str:
    with store.read() as session:
        return session.now


def test_migrating_again_changes_nothing(store: Store, where: str) -> None:
    _known(store)
    again = open_store(where)
    again.migrate(STEPS)
    with again.read() as session:
        assert session.rows("SELECT slug FROM heads") == [{"slug": "rate-limit"}]
    again.close()


def test_a_journal_of_a_newer_version_is_refused_before_anything_is_written(store: Store, where: str) -> None:
    older = open_store(where)
    with pytest.raises(JournalNewer) as refused:
        older.migrate(STEPS[:-1])
    known = STEPS[-1].number
    assert refused.value.what == (
        f"the journal has schema {known}; this asbuilt {VERSION} knows schemas up to {known - 1}"
    )
    older.close()
    assert store.version() == known


def test_whoever_opens_a_journal_to_look_waits_for_nobody_who_writes(store: Store, where: str) -> None:
    again = open_store(where)
    with store.write() as session:
        again.migrate(STEPS)
        assert session.rows("SELECT slug FROM heads") == []
    again.close()


def test_a_journal_that_somebody_holds_is_said_to_be_held(tmp_path: Path) -> None:
    file = tmp_path / "the journal.db"
    holder, other = sqlite3.connect(file), sqlite3.connect(file, timeout=0)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError) as busy:
        other.execute("BEGIN IMMEDIATE")
    holder.close()
    other.close()
    told = unusable(file, busy.value)
    assert (told.what, told.next_step) == (
        f"the journal {file} is held by another process",
        f"`fuser -v '{file}'` names who has it; end that, then try again.",
    )


def test_the_schema_is_told_without_changing_it(where: str, tmp_path: Path) -> None:
    opened = open_store(where)
    assert (opened.version(), opened.version()) == (0, 0)
    opened.migrate(STEPS)
    assert opened.version() == STEPS[-1].number
    opened.close()
    url = where if where.startswith("postgresql:") else ""
    settings = load(repository=None, environ={"HOME": str(tmp_path), "ASBUILT_STORE_URL": url})
    assert look_at_store(Home(tmp_path), settings).schema == STEPS[-1].number


def test_the_inventory_counts_every_kind_and_quotes_the_last_events_of_a_repository(store: Store) -> None:
    other_plan, elsewhere = PLAN._replace(plan="plans/login.md"), PLAN._replace(repo="7a0d")
    for address in (PLAN, other_plan, elsewhere):
        _known(store, address)
    for number, address in enumerate((PLAN, other_plan, elsewhere, PLAN)):
        _tick(store)
        with store.write() as session:
            append(session, address, _toy(f"kind.{number % 3}", n=number), key=str(number), actor="you")
    with store.read() as session:
        counted = inventory.kinds(session)
        quoted = inventory.latest(session, PLAN.org, PLAN.repo, limit=2)
        fewer = inventory.latest(session, PLAN.org, PLAN.repo, limit=1)
    assert counted == {"kind.0": 2, "kind.1": 1, "kind.2": 1}
    assert [(plan, one.seq, plain(one)[1]) for plan, one in quoted] == [
        ("plans/login.md", 1, {"n": 1}),
        ("plans/rate-limit.md", 2, {"n": 3}),
    ]
    assert fewer == quoted[1:]


def test_the_last_events_of_one_millisecond_are_the_end_of_what_a_longer_quotation_says(store: Store) -> None:
    other_plan = PLAN._replace(plan="plans/login.md")
    with store.write() as session:
        for address in (PLAN, other_plan):
            open_plan(session, address, "rate-limit")
        for number, address in enumerate((other_plan, PLAN, other_plan, PLAN)):
            append(session, address, _toy(n=number), key=str(number), actor="you")
    with store.read() as session:
        quoted = [inventory.latest(session, PLAN.org, PLAN.repo, limit=limit) for limit in range(1, 5)]
    assert [(plan, event.seq) for plan, event in quoted[-1]] == [
        ("plans/rate-limit.md", 1),
        ("plans/rate-limit.md", 2),
        ("plans/login.md", 1),
        ("plans/login.md", 2),
    ]
    assert quoted == [quoted[-1][-limit:] for limit in range(1, 5)]


def test_many_processes_may_migrate_at_once(where: str) -> None:
    stores = [open_store(where) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda store: store.migrate(STEPS), stores))
    with stores[0].read() as session:
        assert session.rows("SELECT count(*) AS n FROM events") == [{"n": 0}]
    for store in stores:
        store.close()


def test_events_keep_their_order_and_a_repeated_key_appends_nothing(store: Store) -> None:
    _known(store)
    for key in ("r/1", "r/2", "r/1", "r/3", "r/2"):
        with store.write() as session:
            append(session, PLAN, PlanNoted(note=key), key=key, actor="you")
    with store.read() as session:
        told = [(one.seq, one.key, one.event) for one in history(session, PLAN)]
    assert told == [(number, f"r/{number}", PlanNoted(note=f"r/{number}")) for number in (1, 2, 3)]


def _append_two(session: Session) -> None:
    append(session, PLAN, RunRequested(number=1), key="r/1", actor="you")
    append(session, PLAN, TOO_LONG, key="r/2", actor="you")


def test_what_is_raised_in_a_transaction_undoes_all_of_it(store: Store) -> None:
    _known(store)
    with pytest.raises(ValueError, match="bytes are allowed"), store.write() as session:
        _append_two(session)
    with store.read() as session:
        assert history(session, PLAN) == []


def test_eight_writers_of_one_plan_number_its_events_without_a_gap(store: Store) -> None:
    _known(store)

    def write(writer: int) -> None:
        for number in range(20):
            with store.write() as session:
                append(session, PLAN, _toy(), key=f"{writer}/{number}", actor="asbuilt")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    with store.read() as session:
        assert [event.seq for event in history(session, PLAN)] == list(range(1, 161))


def test_of_many_runs_that_want_a_plan_exactly_one_gets_it(store: Store) -> None:
    for race in range(25):
        plan = Address("local", "6f9c", f"plans/{race}.md")
        _known(store, plan)

        def take(run: str, plan: Address = plan) -> tuple[claims.Answer, str]:
            with store.write() as session:
                taken = claims.acquire(session, plan, run=run, mode="phase", host="h", actor="you")
            return taken.answer, taken.claim.run

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(take, ("r1", "r2", "r3", "r4")))
        winners = [owner for answer, owner in answers if answer is claims.Answer.YOURS]
        assert len(winners) == 1
        assert {owner for _, owner in answers} == set(winners)


def test_a_claim_is_taken_again_by_its_owner_and_kept_from_others(store: Store) -> None:
    _known(store)
    with store.write() as session:
        claims.acquire(session, PLAN, run="r1", mode="finish", host="h", actor="you")
        again = claims.acquire(session, PLAN, run="r1", mode="finish", host="h", actor="you")
        other = claims.acquire(session, PLAN, run="r2", mode="phase", host="h", actor="you")
        phase = claims.set_phase(session, PLAN, run="r2", phase="2a")
        released = claims.release(session, PLAN, run="r2", actor="you")
    assert (again.answer, other.answer, phase, released) == (
        claims.Answer.YOURS,
        claims.Answer.HELD,
        claims.Answer.OWNER_MISMATCH,
        claims.Answer.OWNER_MISMATCH,
    )
    assert again.claim == other.claim


def test_every_new_owner_has_a_higher_epoch(store: Store) -> None:
    _known(store)
    epochs = []
    for run in ("r1", "r2", "r3"):
        with store.write() as session:
            epochs.append(
                claims.acquire(session, PLAN, run=run, mode="phase", host="h", actor="you").claim.epoch
            )
            if run == "r1":
                claims.release(session, PLAN, run=run, actor="you")
            else:
                claims.break_(session, PLAN, reason="dead", actor="you")
    assert epochs == sorted(set(epochs))


def test_releasing_nothing_and_noting_a_phase_of_nothing_are_told_apart(store: Store) -> None:
    _known(store)
    with store.write() as session:
        assert claims.release(session, PLAN, run="r1", actor="you") is claims.Answer.YOURS
        assert claims.set_phase(session, PLAN, run="r1", phase="1") is claims.Answer.ABSENT
        assert claims.break_(session, PLAN, reason="none", actor="you") is None


def test_a_question_is_asked_once_and_answered_once(store: Store) -> None:
    _known(store)
    wish = approvals.Wish(run="r1", kind="continue", question="continue with phase 2?", phase="2")
    with store.write() as session:
        first = approvals.ask(session, PLAN, key="r1/between/2", wish=wish, actor="r1")
        again = approvals.ask(session, PLAN, key="r1/between/2", wish=wish, actor="r1")
    assert (first.name, again) == ("a1", first)

    def say(said: approvals.Answer) -> tuple[bool, approvals.Approval | None]:
        with store.write() as session:
            return approvals.answer(session, "local", "6f9c", 1, reply=said, actor=said)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(say, ["yes", "no"] * 4))
    counted = [approval for won, approval in answers if won]
    assert len(counted) == 1
    assert {approval.answer for _, approval in answers if approval} == {
        counted[0].answer if counted[0] else None
    }
    with store.read() as session:
        assert approvals.waiting(session, "local", "6f9c") == []
        assert [event.kind for event in history(session, PLAN)] == ["approval.asked", "approval.answered"]


def test_a_question_about_work_is_withdrawn_with_that_work_or_by_a_run_that_asks(store: Store) -> None:
    _known(store)

    def ask(run: str, change: str, phase: str) -> None:
        wish = approvals.Wish(run=run, kind="sign-off", question="sign off a test?", phase=phase)
        approvals.ask(session, PLAN, key=f"sign-off/sha256:1/{change}/{run}", wish=wish, actor="asbuilt")

    def open_now() -> list[str]:
        return [approval.name for approval in approvals.waiting(session, "local", "6f9c")]

    with store.write() as session:
        for change, phase in (("a", "1"), ("b", "1"), ("c", "2")):
            ask("r1", change, phase)
        wish = approvals.Wish(run="r1", kind="tests", question="prove with `make test`?", phase="1")
        approvals.ask(session, PLAN, key="tests/ab/r1", wish=wish, actor="asbuilt")
        ask("r2", "a", "1")
        assert open_now() == ["a2", "a3", "a4", "a5"]
        approvals.withdraw_about(session, PLAN, ["1"], actor="asbuilt")
        assert open_now() == ["a3", "a4"]


def test_a_run_is_requested_with_its_first_segment(store: Store) -> None:
    run = new_id()
    with store.write() as session:
        requested = runs.request(
            session, PLAN, run=run, slug="rate-limit", options=RunOptions(mode="finish"), actor="you"
        )
    with store.read() as session:
        segments = runs.open_segments(session, "local")
    assert (requested.number, requested.state, requested.options) == (
        1,
        "requested",
        RunOptions(mode="finish"),
    )
    assert [(segment.workflow, segment.why) for segment in segments] == [(f"{run}.1", "start")]


def test_runs_of_one_plan_are_numbered(store: Store) -> None:
    with store.write() as session:
        numbers = [
            runs.request(
                session, PLAN, run=new_id(), slug="rate-limit", options=RunOptions(), actor="you"
            ).number
            for _ in range(3)
        ]
    assert numbers == [1, 2, 3]


def test_the_newest_answer_under_a_key_is_remembered_for_the_whole_repository(store: Store) -> None:
    _known(store)

    def last(repo: str = "6f9c") -> str | None:
        with store.read() as session:
            found = approvals.last_answered(session, "local", repo, under="tests/ab/")
        return found and found.name

    for number, key in enumerate(("tests/ab/r1", "tests/cd/r1", "tests/ab/r2", "tests/ab/r3"), 1):
        wish = approvals.Wish(run=key[-2:], kind="tests", question="prove with `make test`?")
        with store.write() as session:
            approvals.ask(session, PLAN, key=key, wish=wish, actor="asbuilt")
        assert last() == {1: None, 2: "a1", 3: "a1", 4: "a3"}[number]
        if number < 4:
            with store.write() as session:
                approvals.answer(session, "local", "6f9c", number, reply="yes", actor="you")
    assert (last(), last("other")) == ("a3", None)


def test_an_answer_makes_a_waiting_segment_due_at_once(store: Store) -> None:
    run = new_id()
    with store.write() as session:
        runs.request(session, PLAN, run=run, slug="rate-limit", options=RunOptions(), actor="you")
        segments.close(session, Segment("local", "6f9c", run, 1, session.now, "start"))
        runs.plan_segment(session, Segment("local", "6f9c", run, 2, "2999-01-01T00:00:00.000Z", "approval"))
    with store.write() as session:
        woken = runs.wake(session, "local", "6f9c", run)
        now = session.now
    assert [(segment.workflow, segment.due_at) for segment in woken] == [(f"{run}.2", now)]
    with store.write() as session:
        assert runs.wake(session, "local", "6f9c", run) == []


def test_a_run_that_is_over_cannot_be_stopped(store: Store) -> None:
    run = new_id()
    with store.write() as session:
        requested = runs.request(session, PLAN, run=run, slug="rate-limit", options=RunOptions(), actor="you")
        assert runs.ask_to_stop(session, "local", "6f9c", run, reason="you") is True
        runs.set_state(session, requested, "stopped")
    with store.write() as session:
        assert runs.ask_to_stop(session, "local", "6f9c", run, reason="you") is False
        found = runs.find(session, "local", "6f9c", run)
    assert found is not None
    assert (found.state, found.is_over) == ("stopped", True)


def test_ids_sort_by_the_time_they_were_made() -> None:
    made = [new_id() for _ in range(2000)]
    assert len(set(made)) == 2000
    assert sorted(made, key=lambda one: one[:10]) == sorted(made, key=lambda one: one[:10])
    assert {len(one) for one in made} == {26}


def test_a_store_that_cannot_be_used_says_so_in_words(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "nowhere" / "journal.db"))
    with pytest.raises(StoreFailed), store.read() as session:
        session.rows("SELECT 1")


def test_what_was_written_is_there_for_all_however_many_come_and_go(tmp_path: Path) -> None:
    """A process that closes the file anywhere lets go of SQLite's own locks on it, without a word."""
    file = tmp_path / "journal.db"
    store = open_store(str(file))
    store.migrate(STEPS)
    with store.read() as one, store.read() as two:
        assert one.rows("SELECT 1 AS n") == two.rows("SELECT 1 AS n")
    look = f"import sqlite3; c = sqlite3.connect({str(file)!r}); print(*c.execute('SELECT slug FROM heads'))"
    subprocess.run([sys.executable, "-c", f"{look}; c.close()"], check=True)
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
    seen = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, text=True)
    assert seen.stdout == "('rate-limit',)\n"
    store.close()
