"""What a person types to get tasks planned, and what they see of it."""

from __future__ import annotations

import json

import pytest

from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.views import Pair, agree
from tests.authoring.desk import say, turn
from tests.journeys.test_commands import Office, office
from tests.tasks.bench import PATH, STATE, TODO, result

__all__ = ["office"]
pytestmark = pytest.mark.crash


def test_of_several_tasks_each_is_planned_or_told_of_and_a_plan_is_run_like_any_other(office: Office) -> None:
    for words in ("say hello", "say goodbye", "say nothing"):
        office.asbuilt("task", "add", words)
    office.asbuilt("task", "status", "3", "abandoned")
    # The agent hands in the plan of the first task, whichever it was asked for.
    office.script.write_text(turn("plan", say(result())), encoding="utf-8")
    said = " ".join(
        office.asbuilt("task", "plan", "1-3,", "9", "--roadmap", "--script", str(office.script)).split()
    )
    assert said.startswith("exit 4 ")
    assert "Skipped: Task is in terminal state [abandoned]: task 3." in said
    assert "Skipped: Task 9 not found." in said
    assert "There is no specs/ROADMAP.md here, so --roadmap has no effect." in said
    assert (
        f"task 1 has a plan: 2 phases, 2.5 hours estimated; key phases: Greet, Refuse; it is {PATH}" in said
    )
    assert "Next: asbuilt run 01-say-hello --finish --auto" in said
    wanted = "specs/002_say_goodbye/plans/01_say-goodbye.md"
    assert f"it says planned and names no {wanted}; task 2 stays [PLANNING]." in said
    assert said.endswith("Next: asbuilt task plan 2")
    shown = json.loads(office.asbuilt("task", "list", "--all", "--json").partition("--- stdout\n")[2])
    statuses = [task["status"] for task in shown["tasks"]]
    assert statuses == ["planned", "planning", "abandoned"]
    assert "err_" in office.asbuilt("task", "show", "2")
    pair = Pair(*((office.shop / path).read_bytes() for path in (STATE, TODO)))
    assert agree(pair) == []
    assert read_state(pair.state).tasks[1].status == "planned"
    assert office.git("status", "--porcelain") == ""
    assert office.git("log", "-1", "--format=%s") == "task 1: create implementation plan"
    assert office.asbuilt("plan", "check", PATH).startswith("exit 0")
    assert "Greet" in office.asbuilt("run", "01-say-hello", "--dry-run", "--script", str(office.script))
