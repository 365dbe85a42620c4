from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.runs import RunStarted
from tests.journeys.shop import ALL, LANDED, PLAN, SCRIPT, killed_at, one_store

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash


@killed_at("report.written", "plan.compared", "plan.marked")
def test_one_phase_is_proven_and_lands(shop: Shop, point: str) -> None:
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert shop.git("log", "--format=%s|%an", "main").splitlines() == [
        "Mark plan.md|A Person",
        "Greet|A Person",
        "start|A Person",
    ]
    assert "**Status:**" not in (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "print('hello')\n"
    assert shop.git("status", "--short") == "?? mine.txt"


@one_store
def test_reports_are_committed_with_the_marks_the_newest_first(shop: Shop) -> None:
    path = "reports/plan-plan.md"
    shop.lands("greet.py", "part.py", "plan.md", path)
    for _ in range(2):
        run = shop.request(mode="phase", reports="reports")
        if shop.worker is None:
            shop.start()
        assert shop.over(run) == ("landed", "")
    text = (shop.checkout / path).read_text(encoding="utf-8")
    newest, older = text.split("\n---\n")
    assert ("Part" in newest, "Part" in older.partition("## Phases")[0], "Greet" in older) == (
        True,
        False,
        True,
    )
    assert shop.git("show", "--format=%s", "--name-only", "main").splitlines() == [
        "Mark plan.md", "", "plan.md", path
    ]  # fmt: skip


@one_store
def test_a_run_names_the_workspaces_that_earlier_runs_of_its_plan_left(shop: Shop) -> None:
    shop.turn('role = "verify"', '{ verdict = "fail" }')
    first = shop.request(mode="phase")
    shop.start()
    assert shop.over(first)[0] == "failed"
    shop.script.write_text(SCRIPT, encoding="utf-8")
    shop.lands("greet.py", "plan.md")
    assert shop.over(shop.request(mode="phase")) == ("landed", "")
    assert [one.left for one in shop.events(RunStarted)] == [(), ("plan.1",)]
    # The second run has landed, and the files of the first are kept under the refs of its attempts.
    shop.until(lambda: list((shop.home / "workspaces").rglob("greet.py")) == [])
    assert shop.git("for-each-ref", "--format=%(refname)", f"refs/asbuilt/attempts/{first}.*") != ""


@one_store
def test_a_held_run_leaves_no_worktree(shop: Shop) -> None:
    run = shop.request(mode="phase", hold=True)
    shop.start()
    assert shop.over(run)[0] == "held"
    shop.until(lambda: len(shop.git("worktree", "list").splitlines()) == 1)


@one_store
def test_a_failed_run_leaves_one_worktree_that_is_named_after_it(shop: Shop) -> None:
    shop.turn('role = "verify"', '{ verdict = "fail" }')
    run = shop.request(mode="phase")
    shop.start()
    assert shop.over(run)[0] == "failed"
    _, left = (line.split()[0] for line in shop.git("worktree", "list").splitlines())
    assert left.endswith(f"/{run}/plan.1")


@one_store
def test_an_implementer_is_told_which_items_its_subagents_can_work_on_in_parallel(shop: Shop) -> None:
    work = "- [ ] `greet.py` says hello\n- [ ] `part.py` says goodbye\n- [ ] `greet.py` is short"
    shop.commit("plan.md", PLAN.replace("- [ ] `greet.py` says hello", work), "items")
    run = shop.request(mode="phase", hold=True)
    shop.start()
    shop.until(lambda: shop.attempt(run, "1.1").joinpath("brief.json").exists())
    brief = json.loads(shop.attempt(run, "1.1").joinpath("brief.json").read_bytes())["brief"]
    assert brief["told"] == [["groups", "1, 3\n2"]]
    shop.over(run)


@killed_at("landing.done", "plan.marked", "phase.begun")
def test_an_untracked_plan_is_marked_where_it_lies_and_never_committed(shop: Shop, point: str) -> None:
    shop.git("rm", "-q", "--cached", "plan.md")
    shop.git("commit", "-qm", "the plan is mine")
    shop.lands("greet.py", "plan.md")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ["Greet", "the plan is mine", "start"]
    landed = shop.git("log", "-1", "--format=%H", "main")
    text = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert text == PLAN.replace("- [ ] `greet.py` says hello", f"- [x] `greet.py` says hello ({landed[:10]})")
    assert shop.git("status", "--short").splitlines() == ["?? mine.txt", "?? plan.md"]


@killed_at("landing.refused", "phase.proven", "run.ended")
def test_a_file_of_yours_in_the_way_is_kept_and_nothing_lands(shop: Shop, point: str) -> None:
    shop.write("greet.py", "mine too")
    run = shop.request(mode="phase")
    shop.start_killed(point)
    state, reason = shop.over(run)
    assert state == "failed"
    assert "greet.py" in reason
    assert shop.log("asbuilt/plan") == ["Greet", "start"]


def test_a_finish_goes_through_its_waves_fixes_what_fails_and_lands_once(shop: Shop) -> None:
    shop.lands(*LANDED)
    run = shop.request(mode="finish")
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.log() == ALL
    kinds = shop.kinds()
    counted = [kinds.count(kind) for kind in ("landing.done", "phase.proven", "attempt.begun")]
    assert counted == [1, 4, 5]


@killed_at("checks.done", "attempt.ended", "run.ended")
def test_a_phase_that_stays_wrong_after_two_fixes_ends_the_run_and_lands_nothing(
    shop: Shop, point: str
) -> None:
    shop.script.write_text(SCRIPT.replace("goodbye", "still wrong"), encoding="utf-8")
    run = shop.request(mode="finish")
    shop.start_killed(point)
    state, reason = shop.over(run)
    assert state == "failed"
    assert reason.startswith("phase 2a is not proven after 2 fixes: grep -q goodbye part.py: FAIL, exit 1")
    assert shop.log("asbuilt/plan") == ["Greet", "start"]


def test_without_auto_it_asks_between_phases_with_no_worker_alive_and_lands_nothing(shop: Shop) -> None:
    run = shop.request(mode="finish", auto=False)
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    shop.kill()
    assert shop.answer(run, "no") == ["continue with phase 2a?"]
    shop.start()
    assert shop.over(run) == ("stopped", "you said no to phase 2a")
