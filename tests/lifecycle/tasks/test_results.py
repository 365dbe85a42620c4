from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asbuilt.events.options import TaskOrder
from asbuilt.lifecycle.run.facts import AttemptFacts
from asbuilt.lifecycle.tasks.model import Artifact
from asbuilt.lifecycle.tasks.results import Finished, Unfinished, cut_short, read_result
from tests.tasks.bench import PATH, PLAN, REPORT, record, result

FAILED, PARTIAL, BLOCKED = "failed", "partial", "blocked"


def judged(said: str, operation: str = "plan", path: str = PATH) -> Finished | Unfinished:
    return read_result(said, operation=operation, path=path)


def test_a_plan_with_a_record_that_names_it_is_finished() -> None:
    found = judged(result())
    assert isinstance(found, Finished)
    assert found._replace(warnings=()) == Finished(
        PLAN, Artifact("plan", PATH, "Two phases."), ("Greet", "Refuse"), 2.5, ()
    )


def test_what_is_wrong_with_the_form_of_a_plan_is_a_warning_and_stops_nothing() -> None:
    found = judged(result(PLAN.replace("Phase 1.", "Phase 9.")))
    assert isinstance(found, Finished)
    assert any("phase 9" in one for one in found.warnings)


def test_the_last_record_counts_and_a_plan_may_speak_of_records() -> None:
    about = PLAN.replace("None.\n\n## Open", f"A record:\n{record('failed')}\n\n## Open")
    assert isinstance(judged(result(about)), Finished)


@pytest.mark.parametrize(
    ("said", "status", "why", "cause"),
    [
        ("", FAILED, "nothing was handed in", "result_missing"),
        ("All done.", FAILED, "it handed in no record of its result", "result_missing"),
        (PLAN, FAILED, "it handed in no record of its result", "result_missing"),
        ("<result>\n{oops\n</result>", FAILED, "not valid: no JSON", "result_invalid"),
        ("<result>\n[]\n</result>", FAILED, "not valid: no object", "result_invalid"),
        (result(status="done"), FAILED, "its status is 'done'; one of in_progress", "result_invalid"),
        (result(status="in_progress"), FAILED, "it says in_progress", "agent_failed"),
        (result(errors="none"), FAILED, "errors is no list", "result_invalid"),
        (result(metadata=[]), FAILED, "metadata is no object", "result_invalid"),
        (result(artifacts=[{"type": "plan"}]), FAILED, "has no type, path and summary", "result_invalid"),
        (record(), FAILED, "it says planned, but there is no artifact", "artifact_missing"),
        (result("Just do it.\n"), FAILED, "what it calls a plan has no phase", "artifact_missing"),
        (result(" \n"), FAILED, "there is no artifact", "artifact_missing"),
        (result(path="plans/mine.md"), FAILED, f"it says planned and names no {PATH}", "artifact_missing"),
        (result(kind="research"), FAILED, f"it says planned and names no {PATH}", "artifact_missing"),
        (result(status="blocked", errors=["no access"]), BLOCKED, "no access; 2 of", "agent_blocked"),
        (result(status="failed", errors=[{"message": "gone"}]), FAILED, "gone", "agent_failed"),
        (
            result(status="partial", partial_progress={"phases_total": 5}),
            PARTIAL,
            "it says partial; 2 of 5 phases defined",
            "agent_partial",
        ),
    ],
)
def test_a_claim_without_what_it_claims_is_unfinished(said: str, status: str, why: str, cause: str) -> None:
    found = judged(said)
    assert isinstance(found, Unfinished)
    assert (found.status, found.cause) == (status, cause)
    assert why in found.why


def test_a_report_needs_more_than_a_word() -> None:
    path = "specs/001_a/reports/01_a.md"
    short, long = (
        result(text, "researched", kind="research", path=path) for text in ("# It works\n", REPORT)
    )
    assert isinstance(judged(short, "research", path), Unfinished)
    assert isinstance(judged(long.replace("</artifact>", "\n</artifact>"), "research", path), Finished)


def test_how_far_an_unfinished_plan_came_is_counted() -> None:
    cut = "<artifact>\n" + PLAN.partition("## Phase 2")[0]
    order = TaskOrder(number=7, operation="plan", path=PATH, artifact_number=1, timeout_s=60)
    late = AttemptFacts(1, "plan", ending="timed_out")
    killed = AttemptFacts(1, "plan", ending="crashed", reason="exit 137")
    ran_out, far = "its agent ran out of 60 seconds", "; 1 of unknown phases defined"
    assert cut_short(late, cut, order) == Unfinished("partial", f"{ran_out}{far}", "timeout")
    assert cut_short(late, "I look around", order) == Unfinished("partial", ran_out, "timeout")
    assert cut_short(late, cut, replace(order, operation="research")) == Unfinished(
        "partial", ran_out, "timeout"
    )
    assert cut_short(killed, cut, order) == Unfinished(
        "failed", f"its agent crashed: exit 137{far}", "agent_lost"
    )


@given(st.text(st.characters(), max_size=200), st.sampled_from(["plan", "research"]))
def test_whatever_is_said_is_judged_and_nothing_is_raised(said: str, operation: str) -> None:
    for text in (said, f"<artifact>\n{said}\n</artifact>\n<result>\n{said}\n</result>", result(f"{said}\n")):
        assert isinstance(judged(text, operation), Finished | Unfinished)
