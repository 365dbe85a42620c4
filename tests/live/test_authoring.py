"""From a sentence to landed code with Claude Code at work, for a person who has configured nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.authoring.outputs import EXPLORED, HEY, PROMISE, QUESTIONS, UNDERSTOOD, WEIGHED, line_of
from tests.cli.plans import on_terminal
from tests.cli.test_plan_refine import NEW, PLAN, WANTED
from tests.live.house import HERE, JUDGES, WORKS, House
from tests.live.stage import git
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live
WRITES = "Write one Markdown document"


@pytest.fixture
def house(room: Path, model: Model) -> Iterator[House]:
    made = House(room, model, verifier="codex-acp")
    yield made
    made.close()


def test_a_sentence_is_planned_edited_approved_run_and_landed(house: House) -> None:
    looked = Call("Read", {"file_path": f"{HERE}/plans/greet.md"})
    house.model.play(WORKS, answer(looked, when=WRITES), answer(Say(HEY), when=WRITES))
    code, said = house.type("author", "call out to whoever runs it", "--name", "hey")
    print(said)
    assert code == 5
    assert "claude plans read-only: gate on, bwrap sandbox on." in said
    assert not (house.shop / "plans/hey.md").exists()

    edits = ("approve", "yes", "a1", "--edit")
    code, said = on_terminal(
        house.shop, house.environ, *edits, typed=b"y\n", columns=100, EDITOR="sed -i -e s/HEY/HEI/"
    )
    print(said)
    assert (code, "Approved Plan (edited by user)" in said) == (0, True)
    code, said = house.type("watch", "hey")
    print(said)
    assert (house.shop / "plans/hey.md").read_text(encoding="utf-8").endswith(HEY.replace("HEY", "HEI"))

    phase = "Phase 1 — Hey"
    house.model.play(WORKS, *house.writes(phase, "hey.py", "print('HEI')\n"))
    house.model.play(JUDGES, *house.judges(phase, {"file": "hey.py", "line": 1}))
    code, said = house.type("run", "hey", "--finish", "--auto")
    print(said)
    assert (code, house.log()) == (0, ["Hey", "start"])
    assert (house.model.left(WORKS), house.model.left(JUDGES)) == (0, 0)


def test_what_claude_asks_is_answered_later_and_the_plan_follows(house: House) -> None:
    asks = f"# Call out\n\n## Goal\n```json\n{QUESTIONS}\n```"
    house.model.play(WORKS, answer(Say(asks), when=WRITES), answer(Say(HEY), when="good day"))
    code, said = house.type("author", "call out to whoever runs it", "--interview", "--name", "hey")
    print(said)
    assert code == 5
    assert house.type("approve", "yes", "a1", "-m", "b")[0] == 0
    assert house.type("approve", "yes", "a2")[0] == 0
    code, said = house.type("watch", "hey")
    print(said)
    assert (code, house.model.left(WORKS)) == (5, 0)
    assert [one["kind"] for one in json.loads(house.type("approve", "--json")[1])["waiting"]] == ["plan"]


def test_stages_are_done_by_claude_and_criticised_by_codex(house: House) -> None:
    (house.shop / "mine.md").write_text("# Mine\n", encoding="utf-8")
    git(house.shop, "add", "mine.md")
    git(house.shop, "commit", "--quiet", "--message=a file to read")
    holds = {"P2": "(new)", "P6": "grep -q", "P8": "Other languages", "P9": "prints HEY", "P10": "calls out"}
    verdicts = [
        {"principle": one, "verdict": "PASS", "evidence": [{"line": line_of(words, HEY)}]}
        for one, words in {**holds, "P11": "Effort: S"}.items()
    ]
    explored = EXPLORED.replace("plan.md", "plans/greet.md")
    house.model.play(
        WORKS,
        answer(Say(UNDERSTOOD), when="Say what is wanted"),
        answer(Say(explored), when="Read the code. Tell"),
        answer(Say(WEIGHED), when="options that differ"),
        answer(Say(HEY), when=WRITES),
        answer(Say(HEY.replace("Nobody listens", "No one hears") + PROMISE), when="Answer every finding"),
    )
    house.model.play(JUDGES, answer(Say(json.dumps({"verdicts": verdicts})), when="Judge the plan"))
    code, said = house.type("author", "call out", "--staged", "--refine-iterations", "1", "--name", "hey")
    print(said)
    assert code == 5
    assert "codex criticises" in said
    assert (house.model.left(WORKS), house.model.left(JUDGES)) == (0, 0)
    assert house.type("approve", "yes", "a1")[0] == 0
    house.type("watch", "hey")
    filed = (house.shop / "plans/hey.md").read_text(encoding="utf-8")
    assert filed.endswith(HEY.replace("Nobody listens", "No one hears"))


def test_claude_writes_what_changes_of_a_plan_and_what_is_done_stays(house: House) -> None:
    plan = house.shop / "plans" / "limits.md"
    plan.write_text(PLAN, encoding="utf-8")
    git(house.shop, "add", "plans")
    git(house.shop, "commit", "--quiet", "--message=limits")
    looked = Call("Read", {"file_path": f"{HERE}/plans/limits.md"})
    anew = "Write this plan anew"
    house.model.play(WORKS, answer(looked, when=anew), answer(Say(NEW), when=anew))
    code, said = house.type("plan", "refine", "limits", "-m", "use Redis")
    print(said)
    assert (code, plan.read_text(encoding="utf-8")) == (5, PLAN)
    assert "Phases  2 changed" in said
    code, said = house.type("approve", "yes", "a1")
    print(said)
    assert (code, plan.read_text(encoding="utf-8"), house.model.left(WORKS)) == (0, WANTED, 0)
