"""What a user may choose for a session, and what is refused before any agent is called."""

from __future__ import annotations

import pytest

from asbuilt.lifecycle.authoring.options import choose
from asbuilt.lifecycle.authoring.session_state import Session, start, state_of
from asbuilt.lifecycle.authoring.stages import CHOOSABLE, Stage
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.plan.markdown.sections import SECTIONS
from tests.lifecycle.stages.cases import PROMPT, chosen

EXAMPLE = "--phases explore,draft,critique,revise"


def names(**choices: object) -> str:
    return ",".join(chosen(choices).stages)


def test_the_default_is_eight_stages() -> None:
    assert names() == "understand,explore,alternatives,draft,critique,revise,critique,revise"


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_each_round_is_a_critique_and_a_revision(rounds: int) -> None:
    assert (
        names(refine_iterations=rounds)
        == "understand,explore,alternatives,draft" + ",critique,revise" * rounds
    )


@pytest.mark.parametrize("rounds", [0, 5, -1])
def test_other_numbers_of_rounds_are_refused(rounds: int) -> None:
    needed = "a whole number from 1 to 4"
    expected = Flaw("refine iterations", str(rounds), needed, "--refine-iterations 2")
    assert choose(refine_iterations=rounds) == (expected,)


def test_named_stages_replace_the_sequence_whatever_the_rounds() -> None:
    assert names(phases=["explore", "draft"], refine_iterations=4) == "explore,draft"


@pytest.mark.parametrize("unknown", ["dream", "", "Draft", "iterate"])
def test_an_unknown_stage_is_refused(unknown: str) -> None:
    flaw = Flaw("stages", repr(unknown), f"any of {', '.join(CHOOSABLE)}", EXAMPLE)
    assert choose(phases=["draft", unknown]) == (flaw,)


@pytest.mark.parametrize(("phases", "skip"), [([], ()), (["explore"], ["explore"])])
def test_no_stage_at_all_is_refused(phases: list[str], skip: list[str]) -> None:
    assert choose(phases=phases, skip=skip) == (Flaw("stages", "no stage", "at least one stage", EXAMPLE),)


def test_a_critique_before_any_plan_is_refused() -> None:
    flaw = Flaw("stages", "a critique of no plan", "a draft before the first critique", EXAMPLE)
    assert choose(phases=["critique", "revise"]) == (flaw,)


def test_the_first_three_stages_can_be_skipped_also_from_named_ones() -> None:
    assert names(skip=["understand", "alternatives"], refine_iterations=1) == "explore,draft,critique,revise"
    assert names(phases=["understand", "draft"], skip=["understand"]) == "draft"


def test_other_stages_cannot_be_skipped() -> None:
    flaw = Flaw("skipped stages", "draft", "any of understand, explore, alternatives", "--skip-understand")
    assert choose(skip=["draft"]) == (flaw,)


@pytest.mark.parametrize(("rounds", "limit"), [(1, 10), (2, 10), (3, 10), (4, 12)])
def test_a_limit_that_nobody_chose_never_cuts_a_sequence_off(rounds: int, limit: int) -> None:
    assert chosen({"refine_iterations": rounds}).max_phases == limit


def test_a_limit_that_somebody_chose_stands() -> None:
    assert [chosen({"max_phases": limit}).max_phases for limit in (0, 3)] == [0, 3]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    flaws = choose(
        refine_iterations=9,
        max_phases=-1,
        critique_mode="kind",
        completion_promise=" ",
        required_sections=[" "],
        attempt_limit=0,
    )
    assert flaws == (
        Flaw("refine iterations", "9", "a whole number from 1 to 4", "--refine-iterations 2"),
        Flaw("max phases", "-1", "0 for no limit, or more", "--max-phases 10"),
        Flaw("critique mode", "kind", "principles or open", "--open-critique"),
        Flaw("promise", "' '", "some words without a tag", "--completion-promise PLAN_OK"),
        Flaw("required sections", "none", "at least one", "--required-sections Goal,Steps"),
        Flaw("attempts", "0", "at least 1", "--attempts 5"),
    )


@pytest.mark.parametrize("prompt", ["", " \n\t"])
def test_a_session_without_words_is_refused(prompt: str) -> None:
    flaw = Flaw("prompt", "no words", "what you want, in a sentence", 'asbuilt author "limit the API"')
    assert start(prompt, choose(), started_at="") == (flaw,)


def begun() -> Session | tuple[Flaw, ...]:
    return start(PROMPT, choose(), started_at="2026-01-12T09:00:00Z")


def test_the_state_of_a_session_shows_all_that_was_chosen() -> None:
    first = begun()
    assert isinstance(first, Session)
    assert state_of(first) == {
        "active": True,
        "phase": "understand",
        "phase_index": 0,
        "max_phases": 10,
        "phases": [str(stage) for stage in (*CHOOSABLE, Stage.CRITIQUE, Stage.REVISE)],
        "refine_iterations": 2,
        "critique_mode": "principles",
        "use_memory": True,
        "completion_promise": "PLAN_OK",
        "required_sections": list(SECTIONS),
        "attempt_limit": 5,
        "started_at": "2026-01-12T09:00:00Z",
        "prompt": PROMPT,
    }
