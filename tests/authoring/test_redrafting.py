"""An agent writes what changes of a plan; what is done keeps every byte, and a person says yes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.attempt_folder import Folder
from tests.authoring.desk import say, turn
from tests.cli.test_plan_refine import NEW, PLAN, WANTED
from tests.journeys.test_commands import Office

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crash
USED = "{ usage = 1200, output = 300, cost_usd = 0.25 }"


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    (made.shop / "plans" / "limits.md").write_text(PLAN, encoding="utf-8")
    made.git("add", ".")
    made.git("commit", "-qm", "limits")
    yield made
    made.close()


def refine(office: Office, *turns: str) -> str:
    office.script.write_text("".join(turns), encoding="utf-8")
    return office.asbuilt("plan", "refine", "limits", "-m", "use Redis", "--script", str(office.script))


def test_the_agent_that_plans_writes_what_changes_and_what_is_done_stays(office: Office) -> None:
    plan = office.shop / "plans" / "limits.md"
    said = refine(
        office,
        turn("refine", USED, say(f"Here it is:\n\n{NEW}"), attempt=1),
        turn("refine", USED, say(PLAN), attempt=2),
        turn("refine", '{ ask = "edit", path = "plans/limits.md" }', say(NEW)),
    )
    assert said.startswith("exit 5")
    assert "Phases  2 changed" in said
    assert plan.read_text(encoding="utf-8") == PLAN
    attempts = sorted((office.state / "runs").glob("*/attempts/*.refine.*"))
    told = [dict(Folder(one).brief()[0].told).get("refusal", "").partition("\n")[0] for one in attempts]
    assert told == [
        "",
        "the new text does not begin with its title",
        "the new text does not change the plan's requirements",
    ]
    assert "denied: This role changes nothing." in (attempts[2] / "events.jsonl").read_text(encoding="utf-8")
    assert list((office.state / "workspaces").glob("*/*/refine")) == []
    assert office.asbuilt("approve", "yes", "a1").startswith("exit 0")
    assert plan.read_text(encoding="utf-8") == WANTED
    assert "revision 2" in office.asbuilt("log", "limits")
    turns = [row.split("  ")[-1] for row in office.asbuilt("log", "limits").splitlines() if "redraft" in row]
    assert turns == [f"attempt {number}, scripted: done" for number in (1, 2, 3)]
    assert spent(office) == {"usd": 0.5, "tokens": 3000, "is_whole": True, "basis": "api_price"}


def spent(office: Office) -> object:
    (told,) = (json.loads(line) for line in office.asbuilt("status", "--json").splitlines() if line[0] == "{")
    return next(plan["cost"] for plan in told["plans"] if plan["plan"] == "limits")


def test_an_agent_that_writes_no_plan_leaves_it_as_it_was(office: Office) -> None:
    said = refine(office, turn("refine", USED, '{ fail = "out of ideas" }'))
    assert said.startswith("exit 4")
    assert "scripted wrote no text: " in said
    assert (office.shop / "plans" / "limits.md").read_text(encoding="utf-8") == PLAN
    assert "Nothing" in office.asbuilt("approve")
    assert spent(office) == {"usd": 0.25, "tokens": 1500, "is_whole": True, "basis": "api_price"}
