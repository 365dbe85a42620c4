"""A landing and an undo on a target that somebody has changed by hand since the proof."""

from __future__ import annotations

from shutil import which
from typing import TYPE_CHECKING

import pytest

from tests.journeys.shop import SCRIPT
from tests.journeys.test_commands import office
from tests.journeys.test_landing_again import commit, log
from tests.journeys.test_landing_truth import one
from tests.journeys.test_next_steps import Walk, nexts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.test_commands import Office

__all__ = ["office", "one"]
pytestmark = pytest.mark.crash
_RUNS = "        self.assertEqual(os.system('[ ! -e greet.py ] || python3 greet.py >&2'), 0)\n"


def case(name: str) -> str:
    head = f"import os\nimport unittest\n\n\nclass C{name}(unittest.TestCase):\n"
    return f"{head}    def test_{name}(self):\n{_RUNS}"


@pytest.fixture
def tested(one: Office) -> Office:
    """Give the repository three tests, of which the work adds one and removes none."""
    for name in ("a", "b", "c"):
        (one.shop / f"test_{name}.py").write_text(case(name), encoding="utf-8")
    commit(one, "tests")
    one.environ["ASBUILT_CHECKS_TESTS"] = "python3 -W ignore -m unittest -v"
    text = case("own").replace("\n", "\\n")
    script = SCRIPT.replace("acts = [", f'acts = [{{ write = "test_own.py", text = "{text}" }}, ', 1)
    one.script.write_text(script, encoding="utf-8")
    return one


def remove(office: Office, *names: str) -> None:
    office.git("rm", "-q", *(f"test_{name}.py" for name in names))
    office.git("commit", "-qm", "fewer tests")


def test_a_landing_and_its_undo_need_no_test_that_the_target_does_not_have_any_more(tested: Office) -> None:
    assert "1 phase proven, not landed" in tested.run("--finish")
    remove(tested, "a", "b")
    assert "landed on main" in tested.asbuilt("land", "greet")
    assert tested.git("ls-files", "test_*.py").split() == ["test_c.py", "test_own.py"]
    remove(tested, "c")
    (tested.shop / "test_other.py").write_text(case("other"), encoding="utf-8")
    commit(tested, "another test")
    assert "reverted on main; the plan is open again" in tested.asbuilt("land", "greet", "--undo")
    assert tested.git("ls-files", "test_*.py") == "test_other.py"


def test_work_that_a_reset_took_from_the_target_lands_again_before_any_run(office: Office) -> None:
    assert "landed on main" in office.run("--auto")
    landed = log(office)
    office.git("reset", "-q", "--hard", "HEAD~2")
    refused = office.asbuilt("run", "greet")
    assert ", and main does not have it any more" in " ".join(refused.split())
    assert nexts(refused) == nexts(office.asbuilt("status", "greet")) == ["asbuilt land greet"]
    assert "landed on main" in Walk(office).follow(refused)
    assert log(office) == landed
    assert "nothing to land: the target has all proven commits" in office.asbuilt("land", "greet")
    assert "reverted on main; the plan is open again" in office.asbuilt("land", "greet", "--undo")
    assert not (office.shop / "greet.py").exists()
    assert "nothing to land: no phase is proven" in office.asbuilt("land", "greet")


def test_a_phase_that_the_user_marks_again_is_not_missing_on_the_target(office: Office) -> None:
    assert "landed on main" in office.run("--auto")
    office.git("reset", "-q", "--soft", "HEAD~2")
    (office.shop / "greet.py").write_text("print('hello')  # another form\n", encoding="utf-8")
    commit(office, "rewritten")
    assert nexts(office.asbuilt("run", "greet")) == ["asbuilt land greet"]
    office.asbuilt("plan", "mark", "greet", "1", "done")
    assert "2a  PROVEN" in office.asbuilt("run", "greet")


def test_work_that_a_user_reverted_lands_again_and_deleted_work_is_undone(one: Office) -> None:
    walk = Walk(one)
    assert "landed on main" in one.run("--auto")
    one.git("revert", "--no-edit", "HEAD~1")
    assert "landed on main" in one.asbuilt("land", "greet")
    assert log(one)[:3] == ["Mark plans/greet.md", "Greet", 'Revert "Greet"']
    one.git("reset", "-q", "--hard", "HEAD~5")
    for words in ("reflog expire --expire=now --all", "gc -q --prune=now"):
        one.git(*words.split())
    deleted = one.asbuilt("land", "greet")
    assert "do not have the landed commit of phase 1" in " ".join(deleted.split())
    undone = walk.follow(deleted)
    assert "the plan is open again" in undone
    assert nexts(undone) == ["asbuilt run greet"]


def test_a_list_of_plans_searches_the_repository_as_often_as_one_plan_does(
    one: Office, tmp_path: Path
) -> None:
    greet = (one.shop / "plans" / "greet.md").read_text(encoding="utf-8")
    (one.shop / "plans" / "hail.md").write_text(greet, encoding="utf-8")
    commit(one, "another plan")
    for name in ("greet", "hail"):
        one.asbuilt("run", name, "--finish", "--script", str(one.script))
    one.git("merge", "-q", "--no-ff", "-m", "by hand", "asbuilt/hail")
    counted, git = tmp_path / "counted", tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\necho >> {counted}\nexec {which("git")} "$@"\n', encoding="utf-8")
    git.chmod(0o755)
    one.environ["PATH"] = f"{git.parent}:{one.environ['PATH']}"
    times = []
    for words in (("status", "hail"), ("status",)):
        shown = one.asbuilt(*words)
        times.append(len(counted.read_text(encoding="utf-8")))
        counted.unlink()
        assert nexts(shown) == ["asbuilt land hail"]
    assert times[0] == times[1] > 0
