"""A task from its number to a committed plan: at a terminal, and in a conversation with Claude Code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.authoring.desk import say, turn
from tests.live.conversation import Allow
from tests.live.desk import Desk
from tests.live.house import HERE, WORKS, House
from tests.live.stage import git
from tests.model import Call, Say, answer
from tests.tasks.bench import PATH, PLAN, STATE, TODO, result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live
PLANS = "Plan the task"


@pytest.fixture
def house(room: Path, model: Model) -> Iterator[House]:
    made = House(room, model, verifier="codex-acp")
    yield made
    made.close()


def test_a_task_is_planned_by_an_agent_that_writes_nothing_itself_and_committed(house: House) -> None:
    writes = Call("Write", {"file_path": f"{HERE}/{PATH}", "content": "mine"})
    house.model.play(WORKS, answer(writes, when=PLANS), answer(Say(result()), when=PLANS))
    assert house.type("task", "add", "say hello")[0] == 0
    code, said = house.type("task", "plan", "1")
    print(said)
    assert (code, house.model.left(WORKS)) == (0, 0)
    assert "task 1 has a plan: 2 phases" in " ".join(said.split())
    assert house.log() == ["task 1: create implementation plan", "start"]
    assert (house.shop / PATH).read_text(encoding="utf-8") == PLAN
    landed = git(house.shop, "show", "--format=", "--name-only", "HEAD").split()
    assert landed == [PATH, TODO, STATE]


@pytest.fixture
def desk(room: Path, model: Model) -> Iterator[Desk]:
    made = Desk(room, model)
    yield made
    made.close()


def test_in_a_conversation_a_task_is_added_and_planned_by_its_number_without_plan_mode(
    desk: Desk, room: Path
) -> None:
    script = room / "planner.toml"
    script.write_text(turn("plan", say(result())), encoding="utf-8")
    desk.environ["ASBUILT_AGENTS_IMPLEMENT"] = "scripted"
    with desk.talk(lambda *_: Allow) as talk:
        desk.type(talk, "/asbuilt:task add say hello", "asbuilt task add 'say hello'")
        said = desk.type(talk, "/asbuilt:plan 1", f"asbuilt task plan 1 --script {script}")
        made = desk.type(talk, "make a file", "touch made.txt && echo made it")
    assert "task 1 has a plan: 2 phases" in said
    assert git(desk.place.shop, "log", "-1", "--format=%s").strip() == "task 1: create implementation plan"
    assert (desk.place.shop / PATH).read_text(encoding="utf-8") == PLAN
    assert git(desk.place.shop, "show", "--format=", "--name-only", "HEAD").split() == [PATH, TODO, STATE]
    assert ("made it" in made, (desk.place.shop / "made.txt").exists()) == (True, True)
