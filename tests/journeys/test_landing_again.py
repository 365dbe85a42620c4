"""What follows a landing that did not land: other tests, a conflict, a declined sign-off, nothing proven."""

from __future__ import annotations

from subprocess import CalledProcessError
from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import SCRIPT, STARTS_ALL
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
    assert (code_of(nothing), nothing.count("asbuilt run greet")) == (4, 1)
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
    status = office.asbuilt("status", "greet")
    assert "greet   failed, 2 of 4 phases proven, not landed, next 2b\n" in status
    merge = status[status.index("git switch") :].splitlines()[0].split(" && ")[1]
    with pytest.raises(CalledProcessError):
        office.git(*merge.split()[1:])
    merging = office.asbuilt("status", "greet")
    assert "\nA merge of the proven work is in progress.\n" in merging
    assert nexts(merging) == ["git status # resolve the conflicts and commit, then asbuilt land greet"]
    assert "\n  or  give the merge up: git merge --abort\n" in merging
    office.git("merge", "--abort")
    undone = walk.alternative(conflict)
    assert "the plan is open again" in undone
    assert "0 of 4 phases done" in office.asbuilt("status", "greet")
    again = office.asbuilt("land", "greet", "--undo")
    assert "error: all work of greet is reverted already" in again
    assert nexts(again) == ["asbuilt run greet"]
    assert "1   IMPLEMENT attempt 1" in walk.follow(again)


def test_phases_that_were_proven_one_by_one_are_undone_with_the_tests_that_they_added(office: Office) -> None:
    def case(name: str, claim: str) -> str:
        return (
            f"import os\nimport unittest\n\n\nclass Case{name}(unittest.TestCase):\n"
            f"    def test_{name}(self):\n        self.assertEqual({claim})\n"
        )

    base = case("base", "os.path.exists('plans/greet.md'), True")
    (office.shop / "test_base.py").write_text(base, encoding="utf-8")
    commit(office, "a test")
    office.environ["ASBUILT_CHECKS_TESTS"] = "python3 -W ignore -m unittest -v"
    script = SCRIPT
    for phase, file, word in (("1", "greet.py", "hello"), ("2a", "part.py", "goodbye")):
        at = f'phase = "{phase}"\nrole = "implement"\nacts = ['
        claim = f"os.popen('python3 {file}').read().split(), ['{word}']"
        text = case(phase, claim).replace("\n", "\\n")
        script = script.replace(at, f'{at}{{ write = "test_{phase}.py", text = "{text}" }}, ')
    office.script.write_text(script, encoding="utf-8")
    for phase in ("1", "2a"):
        assert "proven, not landed" in office.asbuilt("run", "greet", phase, "--script", str(office.script))
    assert "landed on main" in office.asbuilt("land", "greet")
    assert "reverted on main; the plan is open again" in office.asbuilt("land", "greet", "--undo")
    assert office.git("ls-files", "test_*.py") == "test_base.py"


def test_an_undo_that_breaks_later_work_shows_what_failed_and_a_command_that_lists_that_work(
    office: Office,
) -> None:
    walk = Walk(office)
    needs = "if [ -e caller ] && [ ! -e greet.py ]; then echo 'caller: no greet.py'; exit 3; fi"
    office.asbuilt("config", "set", "checks.tests", f"{needs}; {STARTS_ALL}; {HELLO}")
    commit(office, "tests")
    assert "landed on main" in office.run("--auto")
    (office.shop / "caller").write_text("greet\n", encoding="utf-8")
    commit(office, "caller")
    refused = office.asbuilt("land", "greet", "--undo")
    words = " ".join(refused.split())
    assert "Not undone: on main without this work, `" in words
    assert "` fails: exit 3, and no summary of the tests. Later commits need what the undo would" in words
    assert "\n  | caller: no greet.py\n" in refused
    (command,) = nexts(refused)
    assert "caller" in office.git(*command.removeprefix("git ").split())
    office.git("revert", "--no-edit", "HEAD")
    assert "reverted on main" in walk.alternative(refused)


def test_sign_offs_of_work_that_was_dropped_or_has_landed_are_withdrawn(office: Office) -> None:
    plan = office.shop / "plans" / "greet.md"
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text[: text.index("## Phase 2a")], encoding="utf-8")
    commit(office, "one phase")
    changes = "".join(
        f"{{ write = '{path}', text = 'x' }}, " for path in (".github/workflows/ci.yml", ".gitlab-ci.yml")
    )
    office.script.write_text(SCRIPT.replace("acts = [", f"acts = [{changes}", 1), encoding="utf-8")
    office.run("--auto")
    office.asbuilt("approve", "no", "a1", "-m", "why")
    office.asbuilt("watch", "greet")
    assert nexts(office.asbuilt("approve")) == ["asbuilt approve yes a2"]  # it counts if the work lands
    office.asbuilt("land", "greet", "--undo")
    assert "Nothing waits for you here." in office.asbuilt("approve")
    assert "a2 was withdrawn: the work that it asks about" in office.asbuilt("approve", "yes", "a2")
    office.run("--auto")
    office.asbuilt("approve", "no", "a3", "-m", "why")
    office.asbuilt("watch", "greet")
    landing = office.asbuilt("land", "greet")  # a4 is asked again by this run
    status, inbox = office.asbuilt("status"), office.asbuilt("approve")
    assert nexts(landing) == nexts(status) == nexts(inbox) == ["asbuilt approve yes a5"]
    assert "a4" not in inbox
    for name in ("a5", "a6"):
        office.asbuilt("approve", "yes", name)
    office.asbuilt("watch", "greet")
    assert "landed" in (status := office.asbuilt("status"))
    assert "wait" not in status
    assert "Nothing waits for you here." in office.asbuilt("approve")


def test_a_run_after_a_refused_undo_reverts_nothing(office: Office) -> None:
    plan = office.shop / "plans" / "greet.md"
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text[: text.index("## Phase 2a")], encoding="utf-8")
    commit(office, "one phase")
    assert "landed on main" in office.run("--auto")
    (office.shop / "greet.py").write_text("later\n", encoding="utf-8")
    commit(office, "later")
    assert "Not undone: greet.py changed on main since" in office.asbuilt("land", "greet", "--undo")
    for words in (["land", "greet"], ["run", "greet"], ["status", "greet"]):
        assert code_of(office.asbuilt(*words)) == 0
    status = office.asbuilt("status", "greet")
    assert "greet   landed, 1 of 1 phase done (100%)\n" in status
    assert "\nUndo     greet.2 failed [HH:MM]: Not undone: greet.py changed on main since" in status
    (later,) = nexts(status)
    assert "later" in office.git(*later.removeprefix("git ").split())
    assert "\n  or  then undo again: asbuilt land greet --undo\n" in status
    assert "landed [HH:MM]" in office.asbuilt("status")
    office.git("revert", "--no-edit", "HEAD")
    landed = log(office)
    for words in (["run", "greet"], ["run"]):
        shown = office.asbuilt(*words)
        assert (code_of(shown), "UNDONE" in shown) == (0, False)
        assert "Nothing was started." in shown or words == ["run"]
    assert log(office) == landed
    assert "reverted on main" in office.asbuilt("land", "greet", "--undo")


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
    office.asbuilt("watch", "greet")  # the answer has to reach the worker
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


def test_a_no_to_work_from_an_earlier_text_holds_until_an_undo_or_a_landing(office: Office) -> None:
    walk = Walk(office)
    assert "1 of 4 phases proven, not landed" in office.run()
    plan = office.shop / "plans" / "greet.md"
    plan.write_text(
        plan.read_text(encoding="utf-8").replace("says hello", "says hello to all"), encoding="utf-8"
    )
    asks = office.asbuilt("run", "greet")
    assert nexts(asks) == ["asbuilt approve yes a1"]
    walk.alternative(asks)
    office.asbuilt("watch", "greet")
    ways = (["asbuilt land greet --undo"], "  or  decide again: asbuilt land greet\n")
    for shown in (
        office.asbuilt("status", "greet"),
        office.asbuilt("run", "greet"),
        office.asbuilt("run", "greet"),
    ):
        assert (nexts(shown), ways[1] in shown) == (ways[0], True)
        assert "you declined what was built, since the text of phase 1 was" in shown
    assert "Nothing waits for you here." in office.asbuilt("approve")
    again = walk.alternative(office.asbuilt("status", "greet"))
    assert nexts(again) == ["asbuilt approve yes a2"]
    walk.alternative(again)
    office.asbuilt("watch", "greet")
    stopped = office.asbuilt("run", "greet")
    assert (nexts(stopped), "ASKS" in stopped) == (ways[0], False)
    undone = walk.follow(stopped)
    assert nexts(undone) == ["asbuilt run greet"]
    assert "1   IMPLEMENT attempt 1" in walk.follow(undone)
    assert "landed on main" in office.asbuilt("land", "greet")


def test_a_declined_landing_is_remembered_until_the_work_lands(office: Office) -> None:
    assert "1 of 4 phases proven, not landed" in office.run()
    declined = office.asbuilt("approve", "no", "greet.1", "-m", "not before the release")
    assert "greet.1 is not landed; its commits are kept.\n" in declined
    table, status = office.asbuilt("status"), office.asbuilt("status", "greet")
    for shown in (declined, table, status):
        assert nexts(shown) == ["asbuilt land greet"]
        assert "\n  or  drop the proven work: asbuilt land greet --undo\n" in shown
    assert "declined [HH:MM]" in table
    assert "\nProven [HH:MM], not landed: declined by ann: not before the release.\n" in status
    assert "Nothing waits for you here." in office.asbuilt("approve")
    assert "the landing was declined by ann: not before the release" in office.asbuilt("log", "greet")
    assert "landed on main" in Walk(office).follow(status)
    assert "declined" not in office.asbuilt("status", "greet")


def test_a_plain_run_after_a_declined_sign_off_does_not_ask_again(office: Office) -> None:
    walk = Walk(office)
    plan = office.shop / "plans" / "greet.md"
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text[: text.index("## Phase 2a")], encoding="utf-8")
    commit(office, "one phase")
    office.script.write_text(
        SCRIPT.replace("acts = [", "acts = [{ write = '.github/workflows/ci.yml', text = 'x' }, ", 1),
        encoding="utf-8",
    )
    asks = office.run("--auto")
    assert nexts(asks) == ["asbuilt approve yes a1"]
    walk.alternative(asks)
    office.asbuilt("watch", "greet")
    for _ in range(2):
        shown = office.asbuilt("run", "greet")
        assert (nexts(shown), "ASKS" in shown) == (["asbuilt land greet --undo"], False)
        assert "you declined a change of phase 1, so nothing landed" in " ".join(shown.split())
    assert "Nothing waits for you here." in office.asbuilt("approve")
    asked_again = office.asbuilt("land", "greet")
    assert nexts(asked_again) == ["asbuilt approve yes a2"]
    office.asbuilt("approve", "yes", "a2")
    office.asbuilt("watch", "greet")
    assert "landed" in office.asbuilt("status", "greet")
