"""Whole runs with Claude Code at work and codex as its judge, for a person who has configured nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.contracts.attempts import until
from tests.live.house import JUDGES, WORKS, House
from tests.live.speech import SPEECHES
from tests.live.stage import git
from tests.model import Refuse, Say, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live
GREET, PART, SHOUT, BOTH = "Phase 1 — Greet", "Phase 2a — Part", "Phase 2b — Shout", "Phase 3 — Both"
TOGETHER = "still does what it promised"


@pytest.fixture
def house(room: Path, model: Model) -> Iterator[House]:
    made = House(room, model, verifier="codex-acp")
    yield made
    made.close()


def first_line(name: str) -> dict[str, object]:
    return {"file": name, "line": 1}


def test_four_phases_are_worked_on_judged_mended_and_landed(house: House) -> None:
    greet, part, shout, both = (first_line(f"{name}.py") for name in ("greet", "part", "shout", "both"))
    house.model.play(
        WORKS,
        *house.writes(GREET, "greet.py", "print('hello')\n"),
        *house.writes(PART, "part.py", "print('wrong')\n"),
        *house.runs(PART, "echo \"print('goodbye')\" > part.py"),
        *house.writes(SHOUT, "shout.py", "print('HELLO')\n"),
        *house.writes(BOTH, "both.py", "print('both')\n"),
    )
    house.model.play(
        JUDGES,
        *house.judges(TOGETHER, greet, part, shout, both, both, both),
        *house.judges(GREET, greet),
        *house.judges(PART, part),
        *house.judges(SHOUT, shout),
        *house.judges(BOTH, {"check": "grep -q both both.py"}),
    )
    code, said = house.type("run", "greet", "--finish", "--auto")
    print(said)
    assert code == 0
    assert "claude implements, codex verifies" in said
    assert house.log() == ["Mark plans/greet.md", "Both", "Shout", "Part", "Greet", "start"]
    assert (house.model.left(WORKS), house.model.left(JUDGES)) == (0, 0)


def test_two_phases_at_once_conflict_and_both_land(house: House) -> None:
    greet, part, shout, both = (first_line(f"{name}.py") for name in ("greet", "part", "shout", "both"))
    runs = SPEECHES["claude"].runs
    house.model.play(
        WORKS,
        *house.writes(GREET, "greet.py", "print('hello')\n"),
        # So that phase 2b is merged first, and 2a meets it.
        answer(runs("echo goodbye > part.py; echo part > shared.py"), when=PART, wait="2b is proven"),
        answer(Say("done"), when=PART),
        *house.runs(PART, "echo both > shared.py"),
        *house.runs(SHOUT, "echo HELLO > shout.py; echo shout > shared.py"),
        *house.writes(BOTH, "both.py", "print('both')\n"),
    )
    house.model.play(
        JUDGES,
        *house.judges(TOGETHER, greet, part, shout, both, both, both),
        *house.judges(GREET, greet),
        *house.judges(PART, part),
        *house.judges(PART, part),
        *house.judges(SHOUT, shout),
        *house.judges(BOTH, {"check": "grep -q both both.py"}),
    )
    with house.typed("run", "greet", "--finish", "--auto", "--lanes", "2") as run:
        # Not all refs: git refuses a workspace's HEAD that is just being made.
        until(lambda: "Shout" in git(house.shop, "log", "--branches", "--format=%s").split(), seconds=240)
        house.model.release("2b is proven")
        said, _ = run.communicate(timeout=300)
    print(said)
    assert (run.returncode, "shared.py" in said) == (0, True)
    assert house.log() == ["Mark plans/greet.md", "Both", "Part", "Shout", "Greet", "start"]
    assert (house.shop / "shared.py").read_text(encoding="utf-8") == "both\n"
    assert (house.model.left(WORKS), house.model.left(JUDGES)) == (0, 0)


def test_what_the_judge_refuses_is_mended_before_it_lands(house: House) -> None:
    house.model.play(
        WORKS,
        *house.writes(GREET, "greet.py", "# hello\n"),
        *house.runs(GREET, "echo \"print('hello')\" > greet.py"),
    )
    house.model.play(JUDGES, *house.judges(GREET, None), *house.judges(GREET, first_line("greet.py")))
    code, said = house.type("run", "greet", "1", "--auto")
    print(said)
    assert (code, house.log()) == (0, ["Mark plans/greet.md", "Greet", "start"])
    mended = house.model.requests(WORKS)[2]
    assert "as scripted" in mended.words


@pytest.mark.parametrize("victim", ["worker", "host", "agent"])
def test_whoever_is_killed_at_work_the_run_goes_on(house: House, victim: str) -> None:
    wrote, done = house.writes(GREET, "greet.py", "print('hello')\n")
    house.model.play(WORKS, wrote, answer(Say("done"), wait="the kill"), done)
    house.model.play(JUDGES, *house.judges(GREET, first_line("greet.py")))
    with house.typed("run", "greet", "1", "--auto") as run:
        house.model.await_requests(WORKS, 2, timeout_s=120)
        house.kill(victim, "1.1")
        house.model.release("the kill")
        said, _ = run.communicate(timeout=300)
    print(said)
    assert (run.returncode, house.log()) == (0, ["Mark plans/greet.md", "Greet", "start"])


def test_a_usage_limit_parks_the_run_and_it_goes_on_when_the_limit_opens(house: House) -> None:
    opens = int(time.time()) + 5
    limit = Refuse(status=429, message=f"Claude AI usage limit reached|{opens}", for_good=False)
    house.model.play(WORKS, limit, limit, *house.writes(GREET, "greet.py", "print('hello')\n"))
    house.model.play(JUDGES, *house.judges(GREET, first_line("greet.py")))
    code, said = house.type("run", "greet", "1", "--auto")
    print(said)
    assert (code, house.log()) == (0, ["Mark plans/greet.md", "Greet", "start"])
    assert "usage limit" in said
