"""A session from its prompt to its plan, move by move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.lifecycle.authoring.session_state import Record, Session, start
from asbuilt.lifecycle.authoring.stage_machine import (
    Accept,
    Ask,
    Finish,
    GiveUp,
    Iterate,
    Refuse,
    Surroundings,
    document_of,
    next_move,
    progress,
)
from asbuilt.lifecycle.authoring.stage_prompts import PERSPECTIVES
from asbuilt.lifecycle.authoring.stages import Stage
from tests.lifecycle.stages.cases import FILES, PROMPT, chosen
from tests.lifecycle.stages.outputs import (
    AROUND,
    PLAN,
    PROMISE,
    UNDERSTOOD,
    critique,
    good,
    revised,
    submitted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

STARTED = "2026-01-12T09:00:00Z"


def begun(prompt: str = PROMPT, **choices: object) -> Session:
    session = start(prompt, chosen(choices), started_at=STARTED)
    assert isinstance(session, Session), session
    return session


def played(session: Session, stages: int) -> Session:
    for _ in range(stages):
        session, move = submitted(session, good(session))
        assert isinstance(move, Accept), move
    return session


def asked(session: Session, around: Surroundings = AROUND) -> Mapping[str, str]:
    move = next_move(session, around)
    assert isinstance(move, Ask), move
    return {part.name: part.text for part in move.parts}


def test_a_session_goes_through_all_its_stages_and_finishes() -> None:
    session = begun()
    seen: list[str] = []
    while isinstance(move := next_move(session, AROUND), Ask):
        seen.append(f"{progress(session)} by the {move.by}")
        session, _ = submitted(session, good(session))
    assert seen == [
        "[1/8] understand by the author",
        "[2/8] explore by the author",
        "[3/8] alternatives by the author",
        "[4/8] draft by the author",
        "[5/8] critique by the critic",
        "[6/8] revise by the author",
        "[7/8] critique by the critic",
        "[8/8] revise by the author",
    ]
    assert move == Finish(revised(7), "completed")
    assert [record.name for record in session.records] == [
        "understand-1", "explore-1", "alternatives-1", "draft-1",
        "critique-1", "revise-1", "critique-2", "revise-2",
    ]  # fmt: skip
    assert session.records[6] == Record(Stage.CRITIQUE, 2, critique())


def test_a_refusal_keeps_the_stage_and_is_told_with_the_next_ask() -> None:
    session, move = submitted(begun(), "1. The problem: importers flood /v1.\n")
    assert isinstance(move, Refuse)
    assert (move.stage, move.left, session.stage, session.records) == (
        Stage.UNDERSTAND, 4, Stage.UNDERSTAND, (),
    )  # fmt: skip
    assert asked(session)["refusal"] == (
        "- numbered items: found 1 numbered item with words of your own; needed: at least 3, each with 2 or"
        " more meaningful words, none reworded from another. "
        "For example: 1. Importers flood /v1 and carts time out.\n"
        "- understanding: found 1 sentence about problem, why, purpose, success, constraint, assumption, "
        "impact, requirement; needed: at least 2. "
        "For example: Success means that checkout is as quick as before."
    )
    session, _ = submitted(session, UNDERSTOOD)
    assert (session.stage, "refusal" in asked(session)) == (Stage.EXPLORE, False)


def test_refusals_in_one_stage_are_bounded_and_what_was_accepted_stays() -> None:
    session = played(begun(attempt_limit=3), 1)
    moves = []
    for _ in range(3):
        session, move = submitted(session, "I looked around.")
        moves.append(type(move))
    assert moves == [Refuse, Refuse, GiveUp]
    assert [record.name for record in session.records] == ["understand-1"]


def test_the_last_revision_without_a_promise_goes_on_to_an_extra_stage() -> None:
    changed = revised(1)
    session, move = submitted(played(begun(refine_iterations=1), 5), changed)
    assert move == Iterate(Record(Stage.REVISE, 1, changed))
    assert (progress(session), session.stage) == ("[7/7] iterate", Stage.ITERATE)
    session, move = submitted(session, changed)
    assert isinstance(move, Refuse)
    session, move = submitted(session, f"{changed}\n{PROMISE}\n")
    assert isinstance(move, Accept)
    assert next_move(session, AROUND) == Finish(changed, "completed")


def test_a_sequence_that_ends_without_a_revision_is_finished_by_the_extra_stage() -> None:
    session = played(begun(phases=["draft"]), 1)
    assert session.stage is Stage.ITERATE
    session, _ = submitted(session, f"{PLAN}\n{PROMISE}\n")
    assert next_move(session, AROUND) == Finish(PLAN, "completed")


def test_at_its_limit_a_session_saves_the_plan_that_it_has() -> None:
    assert next_move(played(begun(max_phases=5), 5), AROUND) == Finish(PLAN, "max_phases_reached")


def test_at_its_limit_without_a_plan_the_latest_output_is_saved() -> None:
    assert next_move(played(begun(max_phases=1), 1), AROUND) == Finish(UNDERSTOOD, "max_phases_reached")


def test_no_limit_and_four_rounds_reach_the_promise() -> None:
    session = played(begun(refine_iterations=4), 10)
    assert [session.is_final, session.index] == [False, 10]


@pytest.mark.parametrize(("round_", "perspective"), list(enumerate(PERSPECTIVES, 1)))
def test_each_round_of_critique_looks_from_elsewhere(round_: int, perspective: str) -> None:
    session = played(begun(refine_iterations=4), 4 + 2 * (round_ - 1))
    assert asked(session)["perspective"] == perspective


def test_from_the_third_round_on_the_devils_advocate_stays() -> None:
    assert asked(played(begun(refine_iterations=4), 10))["perspective"] == PERSPECTIVES[2]


def test_a_critic_sees_the_plan_and_not_how_its_author_came_to_it() -> None:
    parts = asked(played(begun(), 4))
    assert set(parts) == {"progress", "instruction", "perspective", "principles", "prompt", "plan"}
    assert parts["plan"] == PLAN


def test_the_prompt_is_told_verbatim_in_every_stage() -> None:
    prompt = 'Add limits:\n---\n"quoted": `code`\n<promise>not yet</promise>\n'
    session = begun(prompt)
    for _ in range(8):
        assert asked(session)["prompt"] == prompt
        session, _ = submitted(session, good(session))


def test_only_what_asbuilt_wrote_is_told_as_its_own() -> None:
    move = next_move(played(begun(), 4), AROUND)
    assert isinstance(move, Ask)
    assert {part.name for part in move.parts if part.is_ours} == {"progress", "instruction", "perspective"}


def test_memory_is_told_to_the_exploration_alone_and_not_when_it_is_off() -> None:
    around = Surroundings(files=FILES, memory="The last plan forgot /v1/health.")
    told = {}
    session = begun()
    for _ in range(4):
        told[session.stage.value] = asked(session, around).get("memory")
        session, _ = submitted(session, good(session))
    assert told == {
        "understand": None,
        "explore": "The last plan forgot /v1/health.",
        "alternatives": None,
        "draft": None,
    }
    assert "memory" not in asked(played(begun(use_memory=False), 1), around)


def test_a_revision_after_findings_must_differ_and_after_none_need_not() -> None:
    session = played(begun(refine_iterations=1), 4)
    found, _ = submitted(session, critique())
    nothing, _ = submitted(session, critique(finds=False))
    promised = f"{PLAN}\n{PROMISE}\n"
    refused = submitted(found, promised)[1]
    assert isinstance(refused, Refuse)
    assert [flaw.what for flaw in refused.flaws] == ["unchanged plan"]
    assert submitted(nothing, promised)[1] == Accept(Record(Stage.REVISE, 1, promised))


def test_a_promise_in_a_record_counts_only_with_all_sections() -> None:
    session = played(begun(refine_iterations=1), 5)
    lie = replace(session, records=(*session.records, Record(Stage.REVISE, 1, f"Done. {PROMISE}")))
    assert isinstance(next_move(lie, AROUND), Ask)


def test_the_saved_plan_says_when_and_why_it_came_out() -> None:
    assert document_of(Finish("# T\n", "completed"), generated_at="2026-01-12T09:30:00Z") == (
        "---\ngenerated_at: 2026-01-12T09:30:00Z\nexit_reason: completed\n---\n\n# T\n"
    )


def test_the_saved_plan_keeps_the_front_matter_that_it_has() -> None:
    plan = "---\ntitle: T\n---\n\n# T\n"
    saved = document_of(Finish(plan, "max_phases_reached"), generated_at="2026-01-12")
    assert saved == "---\ngenerated_at: 2026-01-12\nexit_reason: max_phases_reached\ntitle: T\n---\n\n# T\n"
