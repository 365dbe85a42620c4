"""A landing and an undo report what the branch has, where it has it, and a command that leads on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import PLAN, SCRIPT, STARTS_ALL
from tests.journeys.test_commands import office
from tests.journeys.test_landing_again import HELLO, commit, log
from tests.journeys.test_next_steps import Walk, code_of, nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash
_ONE = PLAN.partition("## Phase 2a")[0]


@pytest.fixture
def one(office: Office) -> Office:
    """Give the plan one phase."""
    (office.shop / "plans" / "greet.md").write_text(_ONE, encoding="utf-8")
    commit(office, "one phase")
    return office


def test_an_undo_reverts_on_the_branch_where_the_work_landed_not_where_the_last_run_did(
    office: Office,
) -> None:
    office.git("branch", "other")
    assert "landed on main" in office.run("--auto")
    office.git("switch", "-q", "other")
    assert "landed on other" in office.run("--auto")
    assert "greet.3: reverted on other; the plan is open again" in office.asbuilt("land", "greet", "--undo")
    assert log(office)[0] == "Mark plans/greet.md"
    assert "greet.4: reverted on main; the plan is open again" in office.asbuilt("land", "greet", "--undo")
    assert log(office)[:2] == ["Reopen plans/greet.md", 'Revert "Greet"']
    assert "all work of greet is reverted already" in office.asbuilt("land", "greet", "--undo")


def test_what_was_merged_by_hand_lands_once_it_is_proven_on_the_branch(one: Office) -> None:
    walk = Walk(one)
    assert "1 phase proven, not landed" in one.run("--finish")
    one.git("merge", "-q", "--no-ff", "--no-commit", "asbuilt/greet")
    (one.shop / "greet.py").write_text("print('bye')\n", encoding="utf-8")
    commit(one, "by hand")
    merged = one.asbuilt("status", "greet")
    assert "Merged into main by hand; asbuilt has not proven it there yet.\n" in merged
    refused = walk.follow(merged)
    status = one.asbuilt("status", "greet")
    for shown in (refused, status):
        assert nexts(shown) == ["grep -q hello greet.py # fails on main: commit a fix there"]
        assert "main has it, but at" in shown
    assert (code_of(refused), log(one)[0]) == (1, "by hand")
    assert "1 of 1 phase proven, not landed" in status
    (one.shop / "greet.py").write_text("print('hello')  # and more\n", encoding="utf-8")
    commit(one, "mend it")
    assert "which had it already\n" in walk.follow(one.asbuilt("status", "greet"))
    assert log(one)[:3] == ["Mark plans/greet.md", "mend it", "by hand"]
    undone = one.asbuilt("land", "greet", "--undo")
    assert "greet.py changed on main since, and cannot be reverted alone" in " ".join(undone.split())
    one.git("revert", "--no-edit", "HEAD~1")
    (command,) = nexts(one.asbuilt("land", "greet", "--undo"))
    switch, revert = command.split(" && ")
    assert switch == "git switch main"
    one.git(*revert.split()[1:], "--no-edit")
    assert "the plan is open again" in one.asbuilt("land", "greet", "--undo")
    assert (one.shop / "plans" / "greet.md").read_text(encoding="utf-8") == _ONE
    assert not (one.shop / "greet.py").exists()


def test_a_merge_that_was_reverted_is_not_shown_as_merged_and_lands_by_the_next_command(one: Office) -> None:
    walk = Walk(one)
    assert "1 phase proven, not landed" in one.run("--finish")
    one.git("merge", "-q", "--no-ff", "-m", "by hand", "asbuilt/greet")
    one.git("revert", "--no-edit", "-m", "1", "HEAD")
    status = one.asbuilt("status", "greet")
    assert "by hand" not in status
    assert "landed on main" in walk.follow(status)
    assert log(one)[:2] == ["Mark plans/greet.md", "Greet"]


def test_on_a_red_branch_the_next_command_shows_the_failure_and_the_alternative_lands(one: Office) -> None:
    walk = Walk(one)
    red = "if [ -e broken ]; then echo 'unit: 0 passed, 1 failed'; exit 1; fi"
    (one.shop / "tests.sh").write_text(f"{red}; {STARTS_ALL}; {HELLO}\n", encoding="utf-8")
    one.environ["ASBUILT_CHECKS_TESTS"] = "sh tests.sh"
    commit(one, "tests")
    assert "1 phase proven, not landed" in one.run("--finish")
    (one.shop / "broken").touch()
    commit(one, "break it")
    refused = one.asbuilt("land", "greet")
    assert nexts(refused) == ["sh tests.sh # fails on main: commit a fix there"]
    one.git("rm", "-q", "broken")
    one.git("commit", "-qm", "mend it")
    assert "landed on main" in walk.alternative(refused)


def test_a_removed_test_that_the_user_has_signed_off_lands_after_the_run_was_held(one: Office) -> None:
    for name in ("kept", "gone"):
        text = f"import os\nimport unittest\n\n\nclass Case(unittest.TestCase):\n    def test_{name}(self):\n"
        body = "        self.assertEqual(os.system('[ ! -e greet.py ] || python3 greet.py >&2'), 0)\n"
        (one.shop / f"test_{name}.py").write_text(text + body, encoding="utf-8")
    commit(one, "tests")
    one.environ["ASBUILT_CHECKS_TESTS"] = "python3 -W ignore -m unittest -v"
    one.script.write_text(
        SCRIPT.replace("acts = [", 'acts = [{ delete = "test_gone.py" }, ', 1), encoding="utf-8"
    )
    assert "1 phase proven, not landed" in one.run("--finish")
    assert nexts(one.asbuilt("land", "greet")) == ["asbuilt approve yes a1"]
    one.asbuilt("approve", "yes", "a1")
    assert "landed on main" in one.asbuilt("watch", "greet")
    assert one.git("ls-files", "test_*.py") == "test_kept.py"


def test_land_without_a_name_lands_the_only_proven_work_or_names_one_command(one: Office) -> None:
    walk = Walk(one)
    nothing = one.asbuilt("land")
    assert "No proven work waits for a landing here." in nothing
    assert nexts(nothing) == ["asbuilt status"]
    assert "1 phase proven, not landed" in one.run("--finish")
    two = one.shop / "plans" / "hail.md"
    two.write_text(_ONE.replace("greet.py", "hail.py").replace("Greet", "Hail"), encoding="utf-8")
    commit(one, "another plan")
    one.script.write_text(SCRIPT.replace("greet.py", "hail.py"), encoding="utf-8")
    proven = one.asbuilt("run", "hail", "--finish", "--script", str(one.script))
    assert "1 phase proven, not landed" in proven
    several = one.asbuilt("land")
    assert "several plans match: greet, hail" in several
    assert "greet.2 landed on main" in walk.follow(several)
    (one.shop / "hail.py").write_text("theirs\n", encoding="utf-8")
    commit(one, "theirs")
    assert "conflict" in one.asbuilt("land")
    one.git("merge", "-q", "-X", "theirs", "-m", "by hand", "asbuilt/hail")
    assert "hail.3 landed on main" in one.asbuilt("land")
    assert "--undo takes the name of a plan" in one.asbuilt("land", "--undo")


def test_work_that_the_branch_has_already_lands_without_a_commit_and_its_undo_reverts_nothing(
    one: Office,
) -> None:
    assert "1 phase proven, not landed" in one.run("--finish")
    one.git("merge", "-q", "--squash", "asbuilt/greet")
    commit(one, "squashed")
    landed = one.asbuilt("land", "greet")
    assert re.search(r"LANDED +main \[HASH\], which had it already\n", landed)
    assert "greet.2 landed on main, which had it already: 1 phase proven" in landed
    assert "\nLanded on main [HH:MM], which had it already.\n" in one.asbuilt("status", "greet")
    assert log(one)[:2] == ["Mark plans/greet.md", "squashed"]
    undone = " ".join(one.asbuilt("land", "greet", "--undo").split())
    assert "the branch has no commit of asbuilt to revert; the plan is open again" in undone
    assert log(one)[:2] == ["Reopen plans/greet.md", "Mark plans/greet.md"]
    assert (one.shop / "greet.py").exists()


def test_an_undo_on_a_branch_that_was_reset_reports_that_nothing_is_left_to_revert(one: Office) -> None:
    assert "landed on main" in one.run("--auto")
    one.git("reset", "-q", "--hard", "HEAD~2")
    undone = " ".join(one.asbuilt("land", "greet", "--undo").split())
    assert "the branch has no commit of asbuilt to revert; the plan is open again" in undone
    assert "Undone [HH:MM]: the branch has no commit" in one.asbuilt("status", "greet")


@pytest.mark.parametrize("ends", ["land", "land --undo"])
def test_a_branch_that_was_deleted_is_made_again_where_asbuilt_last_saw_it(one: Office, ends: str) -> None:
    walk = Walk(one)
    assert code_of(one.run("--finish" if ends == "land" else "--auto")) == 0
    was = one.git("rev-parse", "main")
    one.git("switch", "-q", "-c", "other")
    one.git("branch", "-q", "-D", "main")
    (command,) = nexts(one.asbuilt(*ends.replace("land", "land greet").split()))
    one.git(*command.split()[1:])
    assert one.git("rev-parse", "main") == was
    assert " on main" in walk.type(f"asbuilt {ends.replace('land', 'land greet')}")
