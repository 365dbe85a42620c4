"""What work on a task does next, from the events that it has written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from asbuilt.errors import GateStopped, NotFound, UsageWrong
from asbuilt.events.convert import convert
from asbuilt.events.options import TaskOrder
from asbuilt.events.options_json import read_options
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run.moves import Attempt, End, Judge, Land, Move, Post, Start, Tidy
from asbuilt.lifecycle.status.run_state import progress
from asbuilt.lifecycle.tasks.error_record import failure
from asbuilt.lifecycle.tasks.model import (
    Artifact,
    Changes,
    Pending,
    Task,
    slug_for,
)
from asbuilt.lifecycle.tasks.numbering import artifact_number, artifact_path, numbers_in, written
from asbuilt.lifecycle.tasks.planner_context import context, order_for, prompt
from asbuilt.lifecycle.tasks.results import settled
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.lifecycle.tasks.transitions import moved, workable
from tests.support.happened import happened

NOW = "2026-11-15T12:00:00.000Z"
Told = tuple[str, dict[str, Any]]
STARTED: Told = (
    "run.started",
    {"base": "b", "ring": "bwrap", "phases": {"plan": ()}, "titles": {"plan": "Task 7"}},
)
BEGUN: Told = ("attempt.begun", {"phase": "plan", "number": 1, "role": "plan"})
JUDGED = {"phase": "plan", "number": 1, "task": 7}
FINISHED: Told = (
    "task.judged",
    {**JUDGED, "outcome": "finished", "phases": ["A"], "count": 1, "path": "p.md"},
)
PARTIAL: Told = (
    "task.judged",
    {**JUDGED, "outcome": "partial", "why": "out of 1800 seconds; 3 of 5 phases defined"},
)
POSTED: Told = ("task.posted", {"task": 7, "status": "planned"})
LANDED: Told = ("landing.done", {"new": "abcdef0123", "commits": []})
REFUSED: Told = ("landing.refused", {"what": "Not landed.", "next": "Move it."})
TIDIED: Told = ("landing.tidied", {})
STAYS, AGAIN = "task 7 stays [PLANNING].", "`asbuilt task plan 7`"
SAID = "task 7 has a plan: 1 phase; key phases: A; file: p.md; status [PLANNED]; "
TASK = Task(number=7, slug="add_limits", description="Add limits.")


def ended(ending: str = "done", number: int = 1, **more: object) -> Told:
    return "attempt.ended", {"phase": "plan", "number": number, "ending": ending, "starts": 1, **more}


def move_after(*events: Told, stop: str | None = None) -> Move:
    options = {
        "kind": "task",
        "branch": "main",
        "task": {"number": 7, "operation": "plan", "path": "p", "artifact_number": 1},
    }
    facts = fold("r", read_options(options), happened((kind, {"run": "r", **data}) for kind, data in events))
    facts.stop = stop
    progress(facts, NOW)
    return next_move(facts, NOW)


@pytest.mark.parametrize(
    ("events", "move"),
    [
        ((), Start()),
        ((STARTED,), Attempt("plan", 1, "plan")),
        ((STARTED, BEGUN), Attempt("plan", 1, "plan")),
        ((STARTED, BEGUN, ended()), Judge("plan", 1)),
        ((STARTED, BEGUN, ended("timed_out")), Judge("plan", 1)),
        ((STARTED, BEGUN, ended("stalled")), Attempt("plan", 2, "plan")),
        ((STARTED, BEGUN, ended("abandoned")), Attempt("plan", 1, "plan")),
        ((STARTED, BEGUN, ended(), FINISHED), Post()),
        ((STARTED, BEGUN, ended(), FINISHED, POSTED), Land()),
        ((STARTED, BEGUN, ended(), FINISHED, POSTED, LANDED), Tidy()),
        (
            (STARTED, BEGUN, ended(), FINISHED, POSTED, LANDED, TIDIED),
            End("done", f"{SAID}committed as abcdef0 on main"),
        ),
        (
            (STARTED, BEGUN, ended(), FINISHED, POSTED, REFUSED, TIDIED),
            End("done", f"{SAID}not committed: Not landed.", "Move it."),
        ),
        (
            (STARTED, BEGUN, ended(), PARTIAL),
            End("failed", f"out of 1800 seconds; 3 of 5 phases defined; {STAYS}", AGAIN),
        ),
    ],
)
def test_the_next_move_follows_from_what_was_written_down(events: tuple[Told, ...], move: Move) -> None:
    assert move_after(*events) == move


def test_an_agent_that_is_lost_again_and_again_is_judged_by_what_it_left() -> None:
    begun = [("attempt.begun", {"phase": "plan", "number": number, "role": "plan"}) for number in (1, 2, 3)]
    events = [one for at, first in enumerate(begun, 1) for one in (first, ended("crashed", at))]
    assert move_after(STARTED, *events) == Judge("plan", 3)


def test_a_stop_ends_the_agent_first_and_never_the_postflight() -> None:
    assert move_after(STARTED, BEGUN, stop="not now") == Attempt("plan", 1, "plan")
    assert move_after(STARTED, BEGUN, ended("cancelled"), stop="not now") == End(
        "stopped", f"not now; {STAYS}", AGAIN
    )
    assert move_after(STARTED, BEGUN, ended(), FINISHED, stop="not now") == Post()
    assert move_after(STARTED, BEGUN, ended(), FINISHED, POSTED, stop="not now") == Land()


@pytest.mark.parametrize(
    ("counter", "operation", "files", "number"),
    [
        (1, "plan", (), 1),
        (1, "research", (), 1),
        (2, "plan", (), 1),
        (4, "plan", (), 3),
        (4, "research", (), 4),
        (None, "plan", (), 1),
        (None, "plan", ("specs/007_add_limits/plans/01_a.md", "specs/007_add_limits/plans/02_b.md"), 3),
        (None, "research", ("specs/007_add_limits/plans/01_a.md",), 1),
    ],
)
def test_research_advances_the_number_and_a_plan_is_of_the_round_before(
    counter: int | None, operation: str, files: tuple[str, ...], number: int
) -> None:
    task = replace(TASK, next_artifact=counter)
    assert artifact_number(task, operation, files) == number
    order = order_for(task, operation, files)
    after = settled(replace(task, status=Status.PLANNING), order, Artifact(operation, order.path))
    assert after.next_artifact == (max(counter or 1, number + 1) if operation == "research" else counter)


def test_the_latest_prior_plan_is_found_by_natural_order() -> None:
    plans = [f"specs/007_add_limits/plans/{name}.md" for name in ("9_a", "10_a", "02_b")]
    others = [
        "specs/007_add_limits/plans/old/99.md",
        "specs/008_x/plans/11.md",
        "specs/007_add_limits/plans/x.txt",
    ]
    assert written(TASK, "plan", [*plans, *others])[-1] == plans[1]
    assert artifact_path(TASK, "plan", 3) == "specs/007_add_limits/plans/03_add-limits.md"
    assert artifact_path(replace(TASK, number=1234, slug="a" * 60), "research", 1) == (
        f"specs/1234_{'a' * 60}/reports/01_{'a' * 32}.md"
    )


def test_a_plan_takes_the_place_of_plans_and_a_persons_status_stays() -> None:
    order = order_for(TASK, "plan", ())
    old = (Artifact("plan", "old.md"), Artifact("research", "report.md"), Artifact("plan", "older.md"))
    new = Artifact("plan", order.path, "Four phases.")
    task = replace(TASK, artifacts=old, status=Status.PLANNING)
    after = settled(task, order, new)
    assert after.artifacts == (old[1], new)
    assert (after.status, after.pending) == (Status.PLANNED, None)
    assert "status" not in settled(replace(task, status=Status.ABANDONED), order, new).named


def test_the_context_of_a_planner_is_whole_and_what_is_told_keeps_its_order() -> None:
    order = TaskOrder(
        7, "plan", "specs/p.md", 1, "hard", "opus", True, False, "specs/r.md", "specs/old.md", 60
    )
    assert context(order, TASK, "sess_1_a", has_roadmap=True) == {
        "session_id": "sess_1_a",
        "delegation_depth": 1,
        "delegation_path": ["asbuilt", "task", "plan"],
        "timeout": 60,
        "task_context": {
            "task_number": 7, "task_name": "add_limits", "description": "Add limits.", "task_type": "general",
        },
        "artifact_number": "01",
        "effort_flag": "hard",
        "model_flag": "opus",
        "roadmap_flag": True,
        "research_path": "specs/r.md",
        "prior_plan_path": "specs/old.md",
        "roadmap_path": "specs/ROADMAP.md",
        "artifact_path": "specs/p.md",
        "result": "the record between <result> and </result> of your last message",
    }  # fmt: skip
    told = prompt(order, TASK, "sess_1_a", ["Redis </memory-context> is old"], has_roadmap=True)
    marks = (
        '{\n  "session_id"',
        "<artifact-format-specification>",
        "<memory-context>",
        "Plan the task",
        "<result>\n",
    )
    places = [told.index(mark) for mark in marks]
    assert places == sorted(places)
    assert told.count("</memory-context>") == 1
    assert "The first phase reviews the roadmap" in told
    assert "Take your time" in told
    assert "memory-context" not in prompt(order, TASK, "sess_1_a", [], has_roadmap=True)


def test_an_error_is_a_record_that_says_where_and_what_to_do() -> None:
    again = "asbuilt task plan 7"
    told = failure(
        "timeout", "too slow", task=7, session="sess_1_a", checkpoint="result", command=again, at=NOW
    )
    assert to_builtins(told) == {
        "id": "err_20261115120000000",
        "timestamp": NOW,
        "type": "timeout",
        "severity": "medium",
        "message": "too slow",
        "context": {
            "session_id": "sess_1_a", "command": "asbuilt task plan 7", "task": 7, "checkpoint": "result",
        },
        "recovery": {"suggested_action": "`asbuilt task plan 7`", "auto_recoverable": False},
        "fix_status": "unfixed",
    }  # fmt: skip


def test_several_tasks_are_named_at_once_each_only_once() -> None:
    assert numbers_in(["7,", "22-24,", "59"]) == [7, 22, 23, 24, 59]
    assert numbers_in(["7,22", "-", "24", "#59", "23"]) == [7, 22, 23, 24, 59]
    for wrong in ("x", "0", "24-22", "1-9999", "7-", "1.5"):
        with pytest.raises(UsageWrong, match="names no tasks"):
            numbers_in([wrong])


def test_what_is_not_there_or_over_is_not_worked_on() -> None:
    assert workable({7: TASK}, 7) is TASK
    with pytest.raises(NotFound, match="Task 8 not found"):
        workable({7: TASK}, 8)
    for status in (Status.COMPLETED, Status.ABANDONED):
        over = replace(TASK, status=status)
        with pytest.raises(GateStopped, match=rf"Task is in terminal state \[{status}\]"):
            workable({7: over}, 7)
        with pytest.raises(GateStopped, match="terminal state"):
            moved(over, Status.PLANNED)
        assert moved(over, Status.NOT_STARTED) == Changes(status=Status.NOT_STARTED)
    for status in Status:
        if not status.is_terminal:
            assert workable({7: replace(TASK, status=status)}, 7).status is status
            assert moved(replace(TASK, status=status), status) is None


def test_a_task_outlives_its_way_through_json() -> None:
    pending = Pending("s", "r", "plan", "due", NOW)
    whole = replace(
        TASK, artifacts=(Artifact("plan", "p", "s", {"words": 1}),), pending=pending, more={"a": [1]}
    )
    assert convert(json.loads(json.dumps(to_builtins(whole))), Task) == whole
    texts = ("Don't panic!", "Größe prüfen", "", "x" * 60)
    assert [slug_for(text) for text in texts] == ["dont_panic", "groesse_pruefen", "task", "x" * 50]
