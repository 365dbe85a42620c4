from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asbuilt.flows.requests import Asker, stop
from asbuilt.journal.ids import LOCAL
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.model import Artifact, Changes
from asbuilt.lifecycle.tasks.state_json import read_state
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.lifecycle.tasks.todo import agree
from tests.authoring.desk import say, turn
from tests.journeys.shop import LONG, REPO, one_store
from tests.tasks.bench import PATH, PLAN, REPORT, STATE, TODO, record, result

if TYPE_CHECKING:
    from tests.tasks.bench import Bench

pytestmark = pytest.mark.crash
SUBJECT = "task 1: create implementation plan"


def test_a_task_gets_a_plan_that_is_linked_and_committed_with_both_views(bench: Bench) -> None:
    bench.lands(PATH, STATE, TODO)
    run = bench.plans(result())
    bench.start()
    state, reason = bench.over(run)
    tip = bench.git("rev-parse", "main")
    told = "task 1 has a plan: 2 phases, 2.5 hours estimated; key phases: Greet, Refuse; file:"
    assert state == "done"
    assert reason == f"{told} {PATH}; status [PLANNED]; committed as {tip[:7]} on main"
    assert bench.log() == [SUBJECT, "start"]
    assert bench.git("show", "--format=", "--name-only", "main").splitlines() == [PATH, TODO, STATE]
    session = bench.task.session
    body = bench.git("log", "-1", "--format=%b", "main")
    assert body.splitlines() == [f"Session: {session}", f"Asbuilt-Run: {run}"]
    assert session.startswith("sess_1")
    assert bench.git("show", f"main:{PATH}") == PLAN.strip()
    task = bench.task
    assert (task.status, task.pending) == (Status.PLANNED, None)
    assert task.artifacts == (Artifact("plan", PATH, "Two phases."),)
    assert agree(bench.views()) == []
    assert read_state(bench.views().state).tasks == {1: task}
    assert bench.failures() == []


@one_store
def test_its_status_says_planning_before_any_agent_is_there_and_while_it_works(bench: Bench) -> None:
    run = bench.work(turn("plan", "{ hang = true }"))
    bench.start()
    bench.until(lambda: "attempt.begun" in bench.kinds())
    task = bench.task
    assert (task.status, task.pending and task.pending.run) == (Status.PLANNING, run)
    assert bench.kinds().index("run.started") < bench.kinds().index("attempt.begun")
    stop(bench.store, bench.run(run), reason="not now", asker=Asker("you", "here", {}))
    state, reason = bench.over(run)
    assert (state, reason.partition(" --script ")[0]) == (
        "stopped", "not now; task 1 stays [PLANNING]. Next: `asbuilt task plan 1",
    )  # fmt: skip
    assert (bench.task.status, bench.log()) == (Status.PLANNING, ["start"])


@one_store
def test_research_begins_a_round_and_the_plan_after_it_is_of_that_round(bench: Bench) -> None:
    report = "specs/001_say_hello/reports/01_say-hello.md"
    bench.lands(report, PATH, STATE, TODO)
    hands = result(REPORT + "\n", "researched", kind="research", path=report)
    run = bench.work(turn("research", say(hands)), operation="research")
    bench.start()
    assert bench.over(run)[0] == "done"
    assert (bench.task.status, bench.task.next_artifact) == (Status.RESEARCHED, 2)
    again = bench.plans(result())
    assert bench.over(again)[0] == "done"
    asked = json.loads(bench.asked(again).partition("\n\n<artifact-format")[0])
    assert (asked["research_path"], asked["artifact_number"]) == (report, "01")
    third = bench.work(turn("plan", say(result())), operation="plan", clean=True)
    assert bench.over(third)[0] == "done"
    asked = json.loads(bench.asked(third).partition("\n\n<artifact-format")[0])
    assert asked["prior_plan_path"] == PATH
    assert [one.path for one in bench.task.artifacts] == [report, PATH]
    assert bench.log() == [SUBJECT, SUBJECT, "task 1: create research report", "start"]
    assert agree(bench.views()) == []


BAD = [
    ("", "nothing was handed in", "result_missing"),
    ("<result>\n{oops\n</result>", "the record of its result is not valid: no JSON", "result_invalid"),
    (record(), "it says planned, but there is no artifact in what it handed in", "artifact_missing"),
]


@one_store
@pytest.mark.parametrize(("said", "why", "kind"), BAD if LONG else BAD[-1:])
def test_what_cannot_be_used_leaves_the_task_planning_with_the_reason(
    bench: Bench, said: str, why: str, kind: str
) -> None:
    run = bench.plans(said) if said else bench.work('[[turn]]\nphase = "plan"\nacts = [{ sleep = 0.1 }]\n')
    bench.start()
    state, reason = bench.over(run)
    assert state == "failed"
    assert why in reason
    again = reason.partition(" --script ")[0]
    assert again.endswith("task 1 stays [PLANNING]. Next: `asbuilt task plan 1")
    task = bench.task
    assert (task.status, task.artifacts, task.pending and task.pending.run) == (Status.PLANNING, (), run)
    (error,) = bench.failures()
    assert (error["type"], error["context"]["task"], error["fix_status"]) == (kind, 1, "unfixed")
    assert why in error["message"]
    assert bench.log() == ["start"]


@one_store
def test_an_agent_that_runs_out_of_time_leaves_how_far_it_came(bench: Bench) -> None:
    acts = (say("<artifact>\n" + PLAN), "{ hang = true }")
    run = bench.work(turn("plan", *acts), timeout_s=3)
    bench.start()
    state, reason = bench.over(run)
    assert (state, reason.partition(";")[0]) == ("failed", "its agent ran out of 3 seconds")
    assert bench.failures()[0]["type"] == "timeout"
    assert bench.task.status is Status.PLANNING


@one_store
def test_changes_of_yours_are_kept_out_of_the_commit_and_an_edit_by_hand_is_not_written_over(
    bench: Bench,
) -> None:
    bench.lands(PATH, STATE, TODO)
    first = bench.plans(result())
    bench.start()
    assert bench.over(first)[0] == "done"
    bench.compare()
    text = (bench.checkout / TODO).read_text(encoding="utf-8")
    bench.before = None
    bench.write(TODO, text.replace("[PLANNED]", "[ABANDONED]"))
    again = bench.plans(result(PLAN.replace("2.5", "3.5")))
    assert bench.over(again)[0] == "done"
    assert "[ABANDONED]" in (bench.checkout / TODO).read_text(encoding="utf-8")
    assert bench.git("show", "--format=", "--name-only", "main").splitlines() == [PATH]
    assert [one["type"] for one in bench.failures()] == ["views_left"]
    assert "[ABANDONED] there, [PLANNED] in the ledger" in bench.failures()[0]["message"]


@one_store
def test_a_file_in_the_way_is_not_overwritten_and_the_task_is_planned_all_the_same(bench: Bench) -> None:
    (bench.checkout / PATH).parent.mkdir(parents=True)
    bench.write(PATH, "mine\n")
    run = bench.plans(result())
    bench.start()
    state, reason = bench.over(run)
    assert state == "done"
    assert f"not committed: Not landed: {PATH} is in the way" in reason
    assert (bench.checkout / PATH).read_text(encoding="utf-8") == "mine\n"
    assert (bench.task.status, bench.log()) == (Status.PLANNED, ["start"])
    assert [one["type"] for one in bench.failures()] == ["commit_refused"]


@one_store
def test_a_status_that_a_person_gave_meanwhile_stays(bench: Bench) -> None:
    bench.lands(PATH, STATE, TODO)
    run = bench.plans(result(), "{ sleep = 5 }")
    bench.start()
    bench.until(lambda: "attempt.begun" in bench.kinds())
    with bench.store.write() as session:
        changes = Changes(status=Status.BLOCKED)
        tasks.change(session, LOCAL, REPO, 1, changes=changes, key="by hand", actor="you")
    state, reason = bench.over(run)
    assert state == "done"
    assert "status [BLOCKED]" in reason
    assert [one.path for one in bench.task.artifacts] == [PATH]
    assert agree(bench.views()) == []
