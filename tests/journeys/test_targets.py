from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptBegun, ChecksDone
from asbuilt.events.phases import PhaseProven
from tests.journeys.shop import PLAN, STARTS_ALL, killed_at, one_store
from tests.journeys.untouched import Before, git

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]


def _marked(shop: Shop, text: str, branch: str = "main") -> str:
    landed = shop.git("log", "-1", "--format=%H", "--grep=^Greet", branch)
    return text.replace("- [ ] `greet.py` says hello", f"- [x] `greet.py` says hello ({landed[:10]})")


def _meanwhile(shop: Shop, path: str, text: str, **options: object) -> str:
    """Commit something to main while the first agent works."""
    shop.turn(
        'phase = "1"\nrole = "implement"',
        '{ write = "greet.py", text = "print(\'hello\')\\n" }',
        "{ sleep = 3 }",
    )
    run = shop.request(mode="phase", **options)
    shop.start()
    shop.until(lambda: "attempt.begun" in shop.kinds())
    shop.commit(path, text, "meanwhile")
    return run


def test_a_plan_that_is_being_edited_is_marked_where_it_lies_and_never_committed(shop: Shop) -> None:
    mine = PLAN + "\nA note of mine.\n"
    shop.write("plan.md", mine)
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Greet", "start"]
    assert (shop.checkout / "plan.md").read_text(encoding="utf-8") == _marked(shop, mine)
    assert shop.git("show", "main:plan.md") == PLAN.strip()
    assert shop.git("status", "--short").splitlines() == ["M plan.md", "?? mine.txt"]


def test_a_branch_that_nobody_has_checked_out_moves_and_the_checkout_does_not(shop: Shop) -> None:
    shop.git("branch", "release")
    shop.lands(on="release")
    run = shop.request(mode="phase", branch="release")
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log("release") == ["Mark plan.md", "Greet", "start"]
    assert shop.git("show", "release:plan.md") == _marked(shop, PLAN, "release").strip()


@killed_at("attempt.begun", "landing.intended", "landing.done")
def test_a_branch_that_another_checkout_has_is_carried_along_there(shop: Shop, point: str) -> None:
    other = shop.home.parent / "other"
    shop.git("worktree", "add", "-q", "-b", "release", str(other))
    (other / "theirs.txt").write_text("theirs", encoding="utf-8")
    there = Before(other)
    shop.lands(on="release")
    run = shop.request(mode="phase", branch="release")
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    there.same_except(("greet.py", "plan.md"), refs=("refs/heads/release",))
    assert (other / "greet.py").read_text(encoding="utf-8") == "print('hello')\n"
    assert git(other, "status", "--short") == b"?? theirs.txt\n"


@killed_at("tree.kept", "landing.intended", "landing.done")
def test_a_target_that_moved_meanwhile_is_built_on_proven_anew_and_landed(shop: Shop, point: str) -> None:
    started = f"self.assertFalse(__import__('os').system({STARTS_ALL.replace('*.py', 'greet.py')!r}))"
    test = f"import unittest\nclass T(unittest.TestCase):\n    def test_one(self): {started}\n"
    shop.commit("test_shop.py", test, "a test")
    shop.lands("greet.py", "plan.md")
    run = _meanwhile(shop, "other.py", "other = 1\n", tests="python3 -m unittest -v")
    if point:
        shop.until(lambda: point in shop.kinds())
        shop.kill()
        shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Mark plan.md", "Greet", "meanwhile", "a test", "start"]
    (proven,) = shop.events(PhaseProven)
    assert shop.log(proven.commit) == ["Greet", "a test", "start"]


def test_a_target_that_moved_into_the_same_lines_is_left_as_it_is_with_words(shop: Shop) -> None:
    run = _meanwhile(shop, "greet.py", "print('good day')\n")
    state, reason = shop.over(run)
    assert state == "failed"
    assert "greet.py" in reason
    assert shop.log() == ["meanwhile", "start"]
    assert shop.log("asbuilt/plan") == ["Greet", "start"]


@killed_at("phase.proven", "report.written", "run.ended")
def test_an_ignored_file_that_the_work_would_overwrite_stays_and_nothing_lands(
    shop: Shop, point: str
) -> None:
    shop.commit(".gitignore", ".env\n", "ignore")
    shop.write(".env", "SECRET=1\n")
    shop.turn(
        'phase = "1"\nrole = "implement"',
        '{ write = "greet.py", text = "print(\'hello\')\\n" }',
        '{ write = ".gitignore", text = "" }',
        '{ write = ".env", text = "SECRET=theirs\\n" }',
    )
    run = shop.request(mode="phase")
    shop.start_killed(point)
    state, reason = shop.over(run)
    assert state == "failed"
    assert ".env" in reason
    assert shop.log() == ["ignore", "start"]


def test_in_the_middle_of_a_merge_no_run_begins(shop: Shop) -> None:
    shop.git("switch", "-q", "-c", "other")
    shop.commit("notes.txt", "two\n", "two")
    shop.git("switch", "-q", "main")
    shop.git("merge", "-q", "--no-ff", "--no-commit", "other")
    run = shop.request(mode="phase")
    shop.start()
    state, reason = shop.over(run)
    what = f"{shop.checkout} has an unfinished git operation: merge."
    assert (state, reason.partition(" Why")[0]) == ("failed", what)
    assert "attempt.begun" not in shop.kinds()


def test_over_an_unresolved_conflict_no_run_begins_and_its_file_is_named(shop: Shop) -> None:
    start = shop.git("rev-parse", "main")
    shop.git("switch", "-q", "-c", "other")
    shop.commit("notes.txt", "two\n", "two")
    shop.git("switch", "-q", "main")
    shop.commit("notes.txt", "one\n", "one")
    shop.git("read-tree", "-i", "-m", start, "main", "other")
    run = shop.request(mode="phase")
    shop.start()
    state, reason = shop.over(run)
    what = f"{shop.checkout} has an unfinished git operation: a conflict in notes.txt."
    assert (state, reason.partition(" Why")[0]) == ("failed", what)
    assert "attempt.begun" not in shop.kinds()


def test_over_a_stash_that_a_landing_left_no_run_begins(shop: Shop) -> None:
    shop.write("plan.md", f"{PLAN}\nmine\n")
    shop.git("stash", "push", "-m", "pre-cherry-pick of somebody")
    run = shop.request(mode="phase")
    shop.start()
    state, reason = shop.over(run)
    assert (state, reason.partition(" Why")[0]) == ("failed", "there is a stash of an interrupted landing.")
    assert shop.git("stash", "list").endswith("pre-cherry-pick of somebody")


def test_an_agent_that_changes_nothing_lands_nothing(shop: Shop) -> None:
    shop.turn('phase = "1"\nrole = "implement"', '{ say = "done" }')
    run = shop.request(mode="phase")
    shop.start()
    why = "phase 1 is not proven after 2 fixes: The agent made no changes"
    assert shop.over(run) == ("failed", why)
    begun = [(one.number, one.role) for one in shop.events(AttemptBegun)]
    assert begun == [(1, "implement"), (2, "fix"), (3, "fix")]


def test_an_agent_that_changes_nothing_at_first_gets_a_fix_cycle_and_lands(shop: Shop) -> None:
    shop.turn('phase = "1"\nrole = "implement"', '{ say = "done" }')
    shop.turn(
        'phase = "1"\nrole = "fix"',
        """{ write = "greet.py", text = "print('hello')\\n" }""",
        '{ say = "done" }',
    )
    run = shop.request(mode="phase")
    shop.lands("greet.py", "plan.md")
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert [(one.outcome, one.failures) for one in shop.events(ChecksDone)] == [
        ("FAIL", ("The agent made no changes",)),
        ("PASS", ()),
    ]
