"""`asbuilt task`, as somebody types it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.todo import Pair, agree
from tests.cli.test_agents import asked, typed
from tests.lifecycle.tasks.pairs import STATE, TODO

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = "limit requests per key"
NEXT = "Next: asbuilt doctor agents\n  or  once an agent is installed: asbuilt task plan 1\n"


def _pair(shop: Path) -> Pair:
    return Pair((shop / "specs/state.json").read_bytes(), (shop / "specs/TODO.md").read_bytes())


def _import(shop: Path, environ: dict[str, str]) -> None:
    (shop / "specs").mkdir()
    (shop / "specs/state.json").write_bytes(STATE)
    (shop / "specs/TODO.md").write_bytes(TODO)
    assert typed(shop, environ, "task", "import", "--yes") == (0, "2 tasks imported.\n", "")


def test_looking_at_nothing_makes_nothing(shop: Path, environ: dict[str, str]) -> None:
    before = sorted(shop.parent.rglob("*"))
    assert typed(shop, environ, "task", "list") == (0, "No tasks here.\n", "")
    assert asked(shop, environ, "task", "list", "--all") == {"schema": "asbuilt.tasks/1", "tasks": []}
    code, _, complained = typed(shop, environ, "task", "show", "1")
    assert (code, complained.partition("\n")[0]) == (3, "error: Task 1 not found")
    assert sorted(shop.parent.rglob("*")) == before


def test_tasks_are_written_down_listed_and_shown_and_no_file_is_touched(
    shop: Path, environ: dict[str, str]
) -> None:
    before = sorted(shop.rglob("*"))
    said = typed(shop, environ, "task", "add", LIMITS)
    assert said == (0, "Added task 1: limit_requests_per_key.\n", NEXT)
    assert asked(shop, environ, "task", "add", "drop 3.10", "--type", "chore")["type"] == "chore"
    assert typed(shop, environ, "task", "list")[1].splitlines() == [
        f"1    [NOT STARTED]  {LIMITS}",
        "2    [NOT STARTED]  drop 3.10",
    ]
    assert typed(shop, environ, "task", "show", "1")[1].splitlines()[:3] == [
        "1 limit_requests_per_key   [NOT STARTED]",
        f"wants    {LIMITS}",
        "type     general",
    ]
    assert sorted(one for one in shop.rglob("*") if ".git" not in one.parts) == [
        one for one in before if ".git" not in one.parts
    ]


def test_a_status_is_given_to_all_that_are_named_or_to_none(shop: Path, environ: dict[str, str]) -> None:
    for words in (LIMITS, "two", "three"):
        typed(shop, environ, "task", "add", words)
    assert typed(shop, environ, "task", "status", "1,", "2-3", "planned")[1].splitlines() == [
        "Task 1 is [PLANNED].",
        "Task 2 is [PLANNED].",
        "Task 3 is [PLANNED].",
    ]
    assert typed(shop, environ, "task", "status", "2", "planned") == (0, "Task 2 is [PLANNED] already.\n", "")
    assert typed(shop, environ, "task", "status", "1-2", "9", "completed")[0] == 3
    assert typed(shop, environ, "task", "list", "--status", "completed")[1] == "No open tasks.\n"
    typed(shop, environ, "task", "status", "1", "completed")
    code, _, complained = typed(shop, environ, "task", "status", "1", "planned")
    assert (code, "task 1 is in the terminal state [COMPLETED]" in complained) == (4, True)
    assert typed(shop, environ, "task", "status", "1", "not_started")[0] == 0
    assert len(asked(shop, environ, "task", "show", "1")["events"]) == 4


def test_a_pair_is_imported_and_exported_without_a_byte_lost(shop: Path, environ: dict[str, str]) -> None:
    (shop / "specs").mkdir()
    (shop / "specs/state.json").write_bytes(STATE)
    (shop / "specs/TODO.md").write_bytes(TODO)
    code, _, complained = typed(shop, environ, "task", "add", LIMITS)
    assert (code, "specs/state.json has tasks that are not in the ledger" in complained) == (4, True)
    shown = typed(shop, environ, "task", "import")
    assert shown == (5, "+ 414 create_planner_agent [PLANNED]\n+ 415 café_menu [NOT STARTED]\n", "")
    assert asked(shop, environ, "task", "import", "--yes")["differ"] == [414, 415]
    assert typed(shop, environ, "task", "import")[1] == "The ledger has these tasks already.\n"
    assert typed(shop, environ, "task", "export")[1] == "Both views are up to date.\n"
    assert _pair(shop) == Pair(STATE, TODO)
    assert asked(shop, environ, "task", "add", LIMITS)["number"] == 416


def test_both_views_are_written_together_and_an_edit_by_hand_counts_only_when_taken(
    shop: Path, environ: dict[str, str]
) -> None:
    _import(shop, environ)
    typed(shop, environ, "task", "status", "415", "researched")
    said = typed(shop, environ, "task", "export")
    assert said == (0, "Wrote specs/state.json and specs/TODO.md, not committed.\n", "")
    assert agree(_pair(shop)) == []
    todo = shop / "specs/TODO.md"
    edited = todo.read_bytes().replace(b"- **Status**: [RESEARCHED]", b"- **Status**: [ABANDONED]")
    todo.write_bytes(edited + b"\n### 500. My own idea\n")
    code, _, complained = typed(shop, environ, "task", "export")
    assert (code, todo.read_bytes()) == (4, edited + b"\n### 500. My own idea\n")
    assert "task 415: its status is [ABANDONED] there, [RESEARCHED]" in " ".join(complained.split())
    code, shown, told = typed(shop, environ, "task", "import")
    assert shown.splitlines() == [
        "~ 415 café_menu: [RESEARCHED] -> [ABANDONED]",
        "+ 500 my_own_idea [NOT STARTED]",
    ]
    assert "The files disagree: task 415: [ABANDONED] in TODO.md" in told
    assert (code, typed(shop, environ, "task", "import", "--yes")[0]) == (5, 0)
    assert typed(shop, environ, "task", "export")[0] == 0
    assert agree(_pair(shop)) == []
    assert {one: task.status for one, task in read_state(_pair(shop).state).tasks.items()} == {
        414: "planned",
        415: "abandoned",
        500: "not_started",
    }


def test_what_names_no_task_is_told_from_a_number(shop: Path, environ: dict[str, str]) -> None:
    code, _, complained = typed(shop, environ, "task", "plan", "add", "limits")
    assert (code, '"add" names no tasks' in complained) == (2, True)
