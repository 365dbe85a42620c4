"""What a person types to get tasks planned, and what they see of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asbuilt.agents.attempt_folder import Folder
from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.todo import Pair, agree
from tests.authoring.desk import say, turn
from tests.journeys.test_commands import Office, office
from tests.tasks.bench import PATH, PLAN, STATE, TODO, result

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
    assert '"roadmap_path": null' in _asked(office, 1)
    assert (
        f"task 1 has a plan: 2 phases, 2.5 hours estimated; key phases: Greet, Refuse; file: {PATH}" in said
    )
    assert "Next: asbuilt run 01-say-hello --finish --auto" in said
    wanted = "specs/002_say_goodbye/plans/01_say-goodbye.md"
    assert f"it says planned and names no {wanted}; task 2 stays [PLANNING]." in said
    assert said.endswith(f"Next: asbuilt task plan 2 --script {office.script}")
    shown = json.loads(office.asbuilt("task", "list", "--all", "--json").partition("--- stdout\n")[2])
    statuses = [task["status"] for task in shown["tasks"]]
    assert statuses == ["planned", "planning", "abandoned"]
    unplanned = office.asbuilt("task", "show", "2")
    assert "err_" in unplanned
    assert "its run ended without status, link and" in unplanned
    pair = Pair(*((office.shop / path).read_bytes() for path in (STATE, TODO)))
    assert agree(pair) == []
    assert read_state(pair.state).tasks[1].status == "planned"
    assert office.git("status", "--porcelain") == ""
    assert office.git("log", "-1", "--format=%s") == "task 1: create implementation plan"
    assert office.asbuilt("plan", "check", PATH).startswith("exit 0")
    assert "Greet" in office.asbuilt("run", "01-say-hello", "--dry-run", "--script", str(office.script))


def _asked(office: Office, number: int) -> str:
    """Read what the planner of one run was asked."""
    folders = sorted(office.state.glob("runs/*/attempts/*.plan.1"), key=lambda one: one.stat().st_mtime)
    return Folder(folders[number - 1]).brief()[0].ask


def _shown(office: Office) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        office.asbuilt("task", "show", "1", "--json").partition("--- stdout\n")[2]
    )
    return told


def test_a_planner_is_given_its_task_paths_flags_and_memory_and_never_the_contents_of_files(
    office: Office,
) -> None:
    older = [f"specs/001_say_hello/plans/{name}_say-hello.md" for name in ("02", "9", "10")]
    for path in (*older, "specs/ROADMAP.md"):
        (office.shop / path).parent.mkdir(parents=True, exist_ok=True)
        (office.shop / path).write_text(f"# Contents of {path}\n", encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "older plans")
    office.asbuilt("task", "add", "say hello")
    office.asbuilt("memory", "add", "hello is said in lower case")
    office.script.write_text(turn("plan", say(result())), encoding="utf-8")
    flags = ("--hard", "--roadmap", "--model", "some-model", "--timeout", "90")
    planned = office.asbuilt("task", "plan", "1", *flags, "--script", str(office.script))
    assert planned.startswith("exit 0")
    told = _asked(office, 1)
    given, mark, rest = told.partition("\n\n<artifact-format-specification>")
    context = json.loads(given)
    session = context.pop("session_id")
    assert context == {
        "delegation_depth": 1,
        "delegation_path": ["asbuilt", "task", "plan"],
        "timeout": 90,
        "task_context": {
            "task_number": 1,
            "task_name": "say_hello",
            "description": "say hello",
            "task_type": "general",
        },
        "artifact_number": "01",
        "effort_flag": "hard",
        "model_flag": "some-model",
        "roadmap_flag": True,
        "research_path": None,
        "prior_plan_path": older[-1],
        "roadmap_path": "specs/ROADMAP.md",
        "artifact_path": PATH,
        "result": "the record between <result> and </result> of your last message",
    }
    places = [told.index(one) for one in (mark, "<memory-context>", "Plan the task", "<result>\n")]
    assert places == sorted(places)
    assert "hello is said in lower case" in rest
    assert "Contents of" not in told
    task = _shown(office)
    assert (task["number"], task["name"], task["type"], task["status"], task["description"]) == (
        1, "say_hello", "general", "planned", "say hello",
    )  # fmt: skip
    assert (task["session_id"], task["created"] <= task["updated"]) == (session, True)
    again = office.asbuilt("task", "plan", "1", "--clean", "--script", str(office.script))
    assert again.startswith("exit 0")
    assert "memory-context" not in _asked(office, 2)
    assert [one["path"] for one in _shown(office)["artifacts"]] == [PATH]
    refused = office.asbuilt("task", "status", "1", "paused")
    assert refused.startswith("exit 2")
    assert "paused" in refused


def test_a_plan_that_no_agent_wrote_has_a_record_and_the_same_postflight(office: Office) -> None:
    office.asbuilt("task", "add", "say hello")
    file = office.script.parent / "inline.md"
    file.write_text("# Say hello\n\nIn one go, without a phase.\n", encoding="utf-8")
    refused = office.asbuilt("task", "plan", "1", "--from", str(file))
    assert refused.startswith("exit 1")
    assert "what it calls a plan has no phase; task 1 stays [PLANNING]." in " ".join(refused.split())
    assert [one["type"] for one in _shown(office)["errors"]] == ["artifact_missing"]
    file.write_text(PLAN, encoding="utf-8")
    planned = " ".join(office.asbuilt("task", "plan", "1", "--from", str(file)).split())
    assert planned.startswith("exit 0")
    assert (
        f"task 1 has a plan: 2 phases, 2.5 hours estimated; key phases: Greet, Refuse; file: {PATH}"
        in planned
    )
    task = _shown(office)
    assert (task["status"], task["pending"]) == ("planned", None)
    assert task["artifacts"] == [{"type": "plan", "path": PATH, "summary": "Say hello"}]
    assert office.git("log", "-1", "--format=%s") == "task 1: create implementation plan"
    assert office.git("show", f"HEAD:{PATH}") == PLAN.strip()
    assert list(office.state.glob("runs/*/attempts/*")) == []


def test_a_task_from_before_counters_is_numbered_by_its_plans(office: Office) -> None:
    older = [f"specs/001_say_hello/plans/{name}_say-hello.md" for name in ("01", "02")]
    task = {"project_number": 1, "project_name": "say_hello", "status": "planned", "description": "say hello"}
    state = {"next_project_number": 2, "active_projects": [task]}
    head = "---\nnext_project_number: 2\n---\n\n# TODO\n\n## Tasks\n\n"
    todo = f"{head}### 1. Say hello\n- **Status**: [PLANNED]\n"
    files = {**dict.fromkeys(older, "# Older\n"), STATE: json.dumps(state), TODO: todo}
    for path, text in files.items():
        (office.shop / path).parent.mkdir(parents=True, exist_ok=True)
        (office.shop / path).write_text(text, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "tasks of before")
    assert office.asbuilt("task", "import", "--yes").startswith("exit 0")
    third = "specs/001_say_hello/plans/03_say-hello.md"
    office.script.write_text(turn("plan", say(result(path=third))), encoding="utf-8")
    planned = office.asbuilt("task", "plan", "1", "--script", str(office.script))
    assert (planned.partition("\n")[0], third in _asked(office, 1)) == ("exit 0", True)
    assert [one["path"] for one in _shown(office)["artifacts"]] == [third]
