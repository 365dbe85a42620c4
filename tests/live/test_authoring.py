"""From a sentence to landed code with Claude Code at work, for a person who has configured nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.authoring.outputs import QUESTIONS
from tests.cli.plans import on_terminal
from tests.live.house import HERE, JUDGES, WORKS, House
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live
PLAN = """\
# Call out

## Goal
`hey.py` calls out to whoever runs it.

## Scope
`hey.py` (new), beside `plans/greet.md`

## Non-Scope
Other languages: nobody asked for them.

## Phase 1 — Hey
Effort: S. Depends on nothing.
### Work Items
- [ ] `hey.py` prints HEY
### Verification
- `grep -q HEY hey.py`

## Risks
Nobody listens: it prints all the same.

## Open Questions
None.
"""
WRITES = "Write one Markdown document"


@pytest.fixture
def house(room: Path, model: Model) -> Iterator[House]:
    made = House(room, model, verifier="codex-acp")
    yield made
    made.close()


def test_a_sentence_is_planned_edited_approved_run_and_landed(house: House) -> None:
    looked = Call("Read", {"file_path": f"{HERE}/plans/greet.md"})
    house.model.play(WORKS, answer(looked, when=WRITES), answer(Say(PLAN), when=WRITES))
    code, said = house.type("author", "call out to whoever runs it", "--name", "hey")
    print(said)
    assert code == 5
    assert "claude plans read-only: gate on, bwrap on." in said
    assert not (house.shop / "plans/hey.md").exists()

    edits = ("approve", "yes", "a1", "--edit")
    code, said = on_terminal(
        house.shop, house.environ, *edits, typed=b"y\n", columns=100, EDITOR="sed -i -e s/HEY/HEI/"
    )
    print(said)
    assert (code, "Approved Plan (edited by user)" in said) == (0, True)
    code, said = house.type("watch", "hey")
    print(said)
    assert (house.shop / "plans/hey.md").read_text(encoding="utf-8").endswith(PLAN.replace("HEY", "HEI"))

    phase = "Phase 1 — Hey"
    house.model.play(WORKS, *house.writes(phase, "hey.py", "print('HEI')\n"))
    house.model.play(JUDGES, *house.judges(phase, {"file": "hey.py", "line": 1}))
    code, said = house.type("run", "hey", "--finish", "--auto")
    print(said)
    assert (code, house.log()) == (0, ["Hey", "start"])
    assert (house.model.left(WORKS), house.model.left(JUDGES)) == (0, 0)


def test_what_claude_asks_is_answered_later_and_the_plan_follows(house: House) -> None:
    house.model.play(WORKS, answer(Say(QUESTIONS), when=WRITES), answer(Say(PLAN), when="good day"))
    code, said = house.type("author", "call out to whoever runs it", "--interview", "--name", "hey")
    print(said)
    assert code == 5
    assert house.type("approve", "yes", "a1", "-m", "b")[0] == 0
    assert house.type("approve", "yes", "a2")[0] == 0
    code, said = house.type("watch", "hey")
    print(said)
    assert (code, house.model.left(WORKS)) == (5, 0)
    assert [one["kind"] for one in json.loads(house.type("approve", "--json")[1])["waiting"]] == ["plan"]
