"""What follows a landing that did not land: other tests, a conflict, a declined sign-off, nothing proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import SCRIPT
from tests.journeys.test_commands import office
from tests.journeys.test_next_steps import Walk, code_of, nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash
HELLO = "echo 'unit: 1 passed, 0 failed'"
RED = "if [ -e greet.py ]; then echo 'unit: 0 passed, 1 failed'; exit 1; fi; echo 'unit: 1 passed, 0 failed'"


def log(office: Office) -> list[str]:
    return office.git("log", "--format=%s", "main").splitlines()


def commit(office: Office, message: str) -> None:
    office.git("add", "-A")
    office.git("commit", "-qm", message)


@pytest.mark.parametrize("command", ["exit 3", RED])
def test_a_landing_and_an_undo_prove_with_the_tests_that_are_set_now(office: Office, command: str) -> None:
    assert "1 of 4 phases proven, not landed" in office.run()
    office.asbuilt("config", "set", "checks.tests", command)
    refused = office.asbuilt("land", "greet")
    assert (code_of(refused), "Settings checks.tests is now" in refused) == (1, True)
    assert log(office) == ["start"]
    commit(office, "tests")
    assert code_of(office.asbuilt("land", "greet")) == 1
    assert log(office) == ["tests", "start"]
    office.asbuilt("config", "set", "checks.tests", HELLO)
    assert "landed on main" in office.asbuilt("land", "greet")
    landed = log(office)
    office.asbuilt("config", "set", "checks.tests", "exit 3")
    assert code_of(office.asbuilt("land", "greet", "--undo")) == 1
    assert log(office) == landed
    office.asbuilt("config", "set", "checks.tests", RED)
    assert "reverted on main" in office.asbuilt("land", "greet", "--undo")


def test_a_run_after_a_landing_of_nothing_runs_the_plan(office: Office) -> None:
    walk = Walk(office)
    office.environ["ASBUILT_CHECKS_SETUP"] = "exit 3"
    assert "greet.1 failed: " in office.run()
    assert "nothing to land: no phase is proven" in office.asbuilt("land", "greet")
    del office.environ["ASBUILT_CHECKS_SETUP"]
    assert "1 of 4 phases proven, not landed" in office.run()
    assert "nothing of greet" not in office.asbuilt("land", "greet", "--undo")
    nothing = office.asbuilt("land", "greet")
    assert "nothing to land: no phase is proven" in nothing
    assert (code_of(nothing), nexts(nothing)) == (5, ["asbuilt run greet"])
    assert "1 of 4 phases proven, not landed" in walk.follow(nothing)


def test_an_undo_after_a_conflict_opens_every_phase_that_did_not_land(office: Office) -> None:
    walk = Walk(office)
    for _ in range(2):
        assert "of 4 phases proven, not landed" in office.run()
    assert office.git("log", "--format=%s", "asbuilt/greet").splitlines() == ["Part", "Greet", "start"]
    (office.shop / "greet.py").write_text("theirs\n", encoding="utf-8")
    commit(office, "theirs")
    conflict = office.asbuilt("land", "greet")
    assert "conflict" in conflict
    undone = walk.alternative(conflict)
    assert "the plan is open again" in undone
    assert "0 of 4 phases done" in office.asbuilt("status", "greet")
    again = office.asbuilt("land", "greet", "--undo")
    assert "error: all work of greet is reverted already" in again
    assert nexts(again) == ["asbuilt run greet"]
    assert "1   IMPLEMENT attempt 1" in walk.follow(again)


def test_phases_that_were_proven_one_by_one_are_undone_with_the_tests_that_they_added(office: Office) -> None:
    def case(name: str, file: str) -> str:
        return (
            f"import unittest\n\n\nclass Case{name}(unittest.TestCase):\n"
            f"    def test_{name}(self):\n        self.assertTrue(open('{file}').read())\n"
        )

    (office.shop / "test_base.py").write_text(case("base", "plans/greet.md"), encoding="utf-8")
    commit(office, "a test")
    office.environ["ASBUILT_CHECKS_TESTS"] = "python3 -W ignore -m unittest -v"
    script = SCRIPT
    for phase, file in (("1", "greet.py"), ("2a", "part.py")):
        at = f'phase = "{phase}"\nrole = "implement"\nacts = ['
        text = case(phase, file).replace("\n", "\\n")
        script = script.replace(at, f'{at}{{ write = "test_{phase}.py", text = "{text}" }}, ')
    office.script.write_text(script, encoding="utf-8")
    for phase in ("1", "2a"):
        assert "proven, not landed" in office.asbuilt("run", "greet", phase, "--script", str(office.script))
    assert "landed on main" in office.asbuilt("land", "greet")
    assert "reverted on main; the plan is open again" in office.asbuilt("land", "greet", "--undo")
    assert office.git("ls-files", "test_*.py") == "test_base.py"


def test_a_declined_sign_off_leads_to_another_attempt_with_its_reason(office: Office) -> None:
    walk = Walk(office)
    plan = office.shop / "plans" / "greet.md"
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text[: text.index("## Phase 2a")], encoding="utf-8")
    commit(office, "one phase")
    office.script.write_text(
        SCRIPT.replace("acts = [", "acts = [{ write = '.github/workflows/ci.yml', text = 'x' }, ", 1),
        encoding="utf-8",
    )
    assert "1 phase proven, not landed" in office.run("--finish")
    declining = walk.alternative(office.asbuilt("land", "greet"))
    assert declining.count("a1: no. sign off .github/workflows/ci.yml") == 1
    status = office.asbuilt("status", "greet")
    assert "Stopped" in status
    assert ". All work is kept." in " ".join(status.split())
    assert ".." not in status
    office.script.write_text(SCRIPT, encoding="utf-8")
    undone = walk.follow(status)
    assert nexts(undone) == ["asbuilt run greet"]
    assert "1   IMPLEMENT attempt 1" in walk.follow(undone)
    briefs = sorted(office.state.glob("runs/*/**/brief.json"), key=lambda file: file.stat().st_mtime)
    told = [file for file in briefs if ": why" in file.read_text(encoding="utf-8")]
    assert told == briefs[2:3]
    assert "landed on main" in office.asbuilt("land", "greet")
    assert office.git("ls-files", ".github") == ""
