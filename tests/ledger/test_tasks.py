from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.error_record import failure
from asbuilt.lifecycle.tasks.model import Changes, Failed
from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.statuses import Status
from tests.lifecycle.tasks.pairs import STATE

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Store
    from asbuilt.lifecycle.tasks.model import Task

HERE = ("local", "6f9c")
ERROR = failure("timeout", "slow", task=1, session="s", checkpoint="result", command="x", at="2026")


def add(session: Session, key: str, slug: str = "add_limits", repo: str = HERE[1]) -> Task:
    return tasks.add(
        session, HERE[0], repo, slug=slug, kind="general", description="Add limits.", key=key, actor="you"
    )


def test_tasks_are_numbered_in_each_repository_and_added_again_they_are_the_same(store: Store) -> None:
    with store.write() as session:
        first, again, second = add(session, "a"), add(session, "a"), add(session, "b", "other")
        elsewhere = add(session, "a", repo="else")
    assert (first.number, again, second.number, elsewhere.number) == (1, first, 2, 1)
    with store.read() as session:
        assert tasks.every(session, *HERE) == {1: first, 2: second}
        assert tasks.head(session, *HERE) == tasks.Head(2, 3, 0, None)
        assert tasks.head(session, "local", "nowhere") == tasks.Head(0, 1, 0, None)


def test_a_change_is_one_event_and_repeated_under_its_key_it_is_none(store: Store) -> None:
    with store.write() as session:
        add(session, "a")
        changes = Changes(status=Status.PLANNING)
        after = [
            tasks.change(session, *HERE, 1, changes=changes, key="r/preflight", actor="x") for _ in range(2)
        ]
        for _ in range(2):
            tasks.fail(session, *HERE, 1, error=ERROR, key="r/failed", actor="asbuilt")
    assert [one.status for one in after] == [Status.PLANNING] * 2
    with store.read() as session:
        told = tasks.history(session, *HERE, number=1)
        assert [(one.seq, one.kind) for one in told] == [
            (1, "task.added"),
            (2, "task.changed"),
            (3, "task.failed"),
        ]
        assert told[2].event == Failed(ERROR)
        assert tasks.every(session, *HERE) == tasks.as_of(session, *HERE, 3)
        assert tasks.as_of(session, *HERE, 1)[1].status is Status.NOT_STARTED


def test_tasks_of_somebody_else_are_taken_over_whole_and_only_once(store: Store) -> None:
    state = read_state(STATE)
    with store.write() as session:
        add(session, "a")
        new = tasks.take(session, *HERE, state.tasks, next_number=state.next_number, actor="you")
        again = tasks.take(session, *HERE, state.tasks, next_number=1, actor="you")
        third = add(session, "b")
    assert (new, again, third.number) == ([414, 415], [], 416)
    with store.read() as session:
        known = tasks.every(session, *HERE)
        assert {number: known[number] for number in (414, 415)} == state.tasks
        assert tasks.head(session, *HERE).imported == 3
        assert tasks.as_of(session, *HERE, 99) == known
