"""What people tell, what agents sign in with, and what they must not do: in whole runs, with real agents."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import PLAN
from tests.live.house import HERE, JUDGES, WORKS, House
from tests.live.starting import KEY
from tests.live.test_journeys import GREET, first_line
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live
NOTE = "Say it in English, as the shop in Leeds does"


@pytest.fixture
def house(room: Path, model: Model) -> Iterator[House]:
    made = House(room, model, verifier="codex-acp")
    yield made
    made.close()


def test_a_note_reaches_who_works_and_a_key_nobody_but_its_agent(house: House) -> None:
    house.model.play(WORKS, *house.writes(GREET, "greet.py", "print('hello')\n"))
    house.model.play(JUDGES, *house.judges(GREET, first_line("greet.py")))
    code, said = house.type("run", "greet", "1", "--auto", "-m", NOTE)
    print(said)
    assert code == 0
    assert NOTE in house.model.requests(WORKS)[0].words
    assert [NOTE in request.words for request in house.model.requests(JUDGES, main=False)].count(True) == 0
    holders = {
        file.name
        for file in house.state.rglob("*")
        if file.is_file() and not file.is_symlink() and KEY.encode() in file.read_bytes()
    }
    assert holders <= {"agents.json", "brief.json"}
    assert "agents.json" in holders
    _, shown = house.type("report", "greet")
    assert KEY not in said + shown + "".join(one.words for one in house.model.requests(WORKS, main=False))


def test_an_implementer_gets_its_phase_workspace_tests_and_the_line_for_wrong_numbers(house: House) -> None:
    tests = "sh -c '[ ! -e greet.py ] || python3 greet.py' && echo 'unit: 1 passed, 0 failed'"
    assert house.type("config", "set", "checks.tests", tests)[0] == 0
    house.model.play(WORKS, *house.writes(GREET, "greet.py", "print('hello')\n"))
    house.model.play(JUDGES, *house.judges(GREET, first_line("greet.py")))
    code, said = house.type("run", "greet", "1", "--auto")
    assert code == 0, said
    told = house.model.requests(WORKS)[0].words
    phase = PLAN[PLAN.index("## Phase 1") : PLAN.index("## Phase 2a")].rstrip()
    assert f"phase\n{phase}\n" in told
    assert re.search(rf"Primary working directory: {house.state}/workspaces/\S+", told)
    assert f"tests\n{tests}\n" in told
    assert "PLAN-TEXT-DRIFT: phase=ID bullet=N field=WHAT plan=STATED actual=MEASURED" in told
    assert f"<<< {told.partition('<<< ')[2].split()[0]} id\n1\n" in told


def test_an_agent_that_is_told_to_write_outside_is_seen_to_be_refused(house: House) -> None:
    outside = Call("Write", {"file_path": f"{HERE}/../bird", "content": "bird"})
    house.model.play(WORKS, answer(outside), answer(Say("I was refused.")))
    code, said = house.type("doctor", "agents", "claude", "--live", "--json")
    print(said)
    trials = json.loads(said)["trials"]
    assert [(one["name"], one["held"]) for one in trials] == [
        ("sandbox", True), ("gate", True), ("live", True),
    ]  # fmt: skip
    assert trials[2]["said"] == "claude was asked to write outside, and wrote nothing; 1 call refused"
    assert code == 0
