from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.errors import PlanInvalid
from asbuilt.lifecycle.tasks.model import Artifact, Task
from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.lifecycle.tasks.todo import Difference, Pair, agree, by_hand, read_todo, render
from tests.lifecycle.tasks.pairs import PAIR, STATE, TODO

NONE = Pair(None, None)
ARTIFACTS = st.builds(
    Artifact,
    st.sampled_from(["research", "plan", "summary"]),
    st.from_regex(r"specs/[a-z0-9_]{1,12}/[a-z0-9_-]{1,9}\.md", fullmatch=True),
    st.text(max_size=20),
)
TASKS = st.builds(
    Task,
    number=st.integers(1, 500),
    slug=st.from_regex(r"[a-z0-9]{1,8}(_[a-z0-9]{1,8}){0,3}", fullmatch=True),
    kind=st.sampled_from(["general", "python"]),
    status=st.sampled_from(Status),
    description=st.text(max_size=80),
    artifacts=st.lists(ARTIFACTS, max_size=3, unique_by=lambda one: (one.type, one.path)).map(tuple),
    next_artifact=st.integers(1, 9),
)
LEDGERS = st.lists(TASKS, max_size=6, unique_by=lambda task: task.number).map(
    lambda tasks: {task.number: task for task in tasks}
)


def test_an_existing_pair_is_read_with_all_that_only_its_owners_know() -> None:
    state = read_state(STATE)
    planner, menu = state.tasks.values()
    assert (planner.number, planner.slug, planner.status) == (414, "create_planner_agent", Status.PLANNED)
    assert planner.more == {"language": "meta", "effort": "2 hours", "dependencies": [413]}
    assert planner.artifacts[0].more == {"words": 812}
    assert (menu.next_artifact, menu.kind, state.next_number, state.seq) == (None, "general", 416, None)
    assert read_todo(TODO).statuses() == {414: Status.PLANNED, 415: Status.NOT_STARTED}
    assert agree(PAIR) == []


def test_what_was_imported_is_exported_byte_for_byte() -> None:
    tasks = read_state(STATE).tasks
    assert render(PAIR, tasks, next_number=416, seq=9) == PAIR


def test_a_change_touches_its_own_lines_and_nothing_else() -> None:
    tasks = read_state(STATE).tasks
    after = render(PAIR, tasks | {415: replace(tasks[415], status=Status.BLOCKED)}, next_number=416, seq=9)
    assert after.todo == TODO.replace(b"415** [NOT STARTED]", b"415** [BLOCKED]").replace(
        b"Status**: [NOT STARTED]", b"Status**: [BLOCKED]"
    )
    was, now = json.loads(STATE), json.loads(after.state or b"")
    was["active_projects"][1]["status"], was["asbuilt_seq"] = "blocked", 9
    assert now == was
    assert (after.state or b"").startswith(b'{\n    "next_project_number": 416')
    assert "café".encode() in (after.state or b"")


def test_a_new_task_stands_first_and_in_the_order_of_tasks() -> None:
    tasks = read_state(STATE).tasks
    new = Task(number=416, slug="add_limits", description="Add limits.\n\n### 1. to the API")
    after = render(PAIR, tasks | {416: new}, next_number=417, seq=9)
    assert agree(after) == []
    assert b"2. **415** [NOT STARTED]\n- **416** [NOT STARTED] Add limits\n" in (after.todo or b"")
    expected = (
        b"## Tasks\n\n### 416. Add limits\n- **Status**: [NOT STARTED]\n- **Task Type**: general\n\n"
        b"**Description**: Add limits. ### 1. to the API\n\n### 415. Menu"
    )
    assert expected in (after.todo or b"")


def test_links_are_relative_to_the_file_and_a_title_keeps_its_letters() -> None:
    plan = Artifact("plan", "specs/007_grusse_fur_alle/plans/01_grusse.md", "Four phases.")
    task = Task(number=7, slug="grusse_fur_alle", description="Grüße für alle.", artifacts=(plan,))
    for place, link in (("specs/TODO.md", plan.path.removeprefix("specs/")), ("TODO.md", plan.path)):
        after = render(NONE, {7: task}, next_number=8, seq=3, place=place)
        assert "### 7. Grüße für alle\n".encode() in (after.todo or b"")
        assert f"**Plan**: [01_grusse.md]({link})\n".encode() in (after.todo or b"")
        assert agree(after) == []
        assert render(after, {7: task}, next_number=8, seq=3, place=place) == after


def test_views_that_are_not_there_yet_are_written_whole() -> None:
    plan = Artifact("plan", "specs/007_add_limits/plans/01_add-limits.md", "Four phases.")
    task = Task(number=7, slug="add_limits", description="Add limits.", artifacts=(plan,))
    after = render(NONE, {7: task}, next_number=8, seq=3)
    assert after.todo == (
        b"# TODO\n\n## Task Order\n\n- **7** [NOT STARTED] Add limits\n\n## Tasks\n\n### 7. Add limits\n"
        b"- **Status**: [NOT STARTED]\n- **Task Type**: general\n"
        b"- **Plan**: [01_add-limits.md](007_add_limits/plans/01_add-limits.md)\n\n"
        b"**Description**: Add limits.\n"
    )
    state = read_state(after.state)
    assert (state.tasks, state.next_number, state.seq) == ({7: task}, 8, 3)


@given(LEDGERS, LEDGERS)
def test_whatever_is_written_is_read_back_and_written_again_it_is_the_same(
    first: dict[int, Task], then: dict[int, Task]
) -> None:
    number = max([*first, *then], default=0) + 1
    tasks = first | then
    begun = render(NONE, first, next_number=number, seq=1)
    for pair in (begun, PAIR, Pair(STATE.replace(b"\n", b"\r\n"), TODO.replace(b"\n", b"\r\n"))):
        known = read_state(pair.state).tasks
        whole = known | tasks
        after = render(pair, whole, next_number=max(number, 416), seq=2)
        read = read_state(after.state).tasks
        # What only their owners know of a task outlives whatever becomes of it.
        assert read == {one: replace(task, more=_more(known, one)) for one, task in whole.items()}
        assert agree(after) == []
        assert render(after, read, next_number=max(number, 416), seq=3) == after


def _more(known: dict[int, Task], number: int) -> dict[str, Any]:
    return known[number].more if number in known else {}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "it is no JSON"),
        (b"\xff{}", "it is no JSON"),
        (b"[]", "it is no object"),
        (b'{"active_projects": {}}', "no list of objects"),
        (b'{"active_projects": [{"project_number": "7"}]}', "'7' is no number"),
        (b'{"active_projects": [{"project_number": 7, "status": "done"}]}', "has the status 'done'"),
        (b'{"active_projects": [{"project_number": 7}, {"project_number": 7}]}', "occurs twice"),
        (b'{"active_projects": [{"project_number": 7, "artifacts": [{}]}]}', "has no path"),
    ],
)
def test_a_file_that_is_understood_by_half_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(PlanInvalid, match=said):
        read_state(data)


def test_an_edit_by_hand_is_told_from_an_older_view() -> None:
    tasks = read_state(STATE).tasks
    now = tasks | {415: replace(tasks[415], status=Status.PLANNED)}
    assert by_hand(PAIR, now, shown=[tasks]) == []
    edited = Pair(STATE, TODO.replace(b"415** [NOT STARTED]", b"415** [ABANDONED]"))
    assert by_hand(edited, now, shown=[tasks]) == [Difference(415, "its status", "[ABANDONED]", "[PLANNED]")]
    assert by_hand(Pair(STATE, TODO + b"\n### 7. Mine\n"), now, shown=[tasks]) == [
        Difference(7, "it", "there", "not")
    ]
    assert agree(edited) == ["task 415: [ABANDONED] in the order of tasks, [NOT STARTED] in state.json"]
