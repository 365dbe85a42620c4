"""What an agent is asked for: more than would be refused, and a plan in an order that can be built."""

from __future__ import annotations

import pytest

from asbuilt.lifecycle.authoring.stage_prompts import instruction
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.thresholds import DEMANDS, Demand
from tests.lifecycle.stages.cases import chosen


def test_more_is_asked_for_than_is_demanded() -> None:
    demands = {name: value for name, value in DEMANDS._asdict().items() if isinstance(value, Demand)}
    assert {name for name, demand in demands.items() if demand.aim <= demand.floor} == set()


@pytest.mark.parametrize("principles", [Demand(3, 8), Demand(5, 12)])
def test_a_critic_is_asked_for_as_many_principles_as_is_chosen_and_for_no_number_of_failures(
    principles: Demand,
) -> None:
    asked = instruction(Stage.CRITIQUE, chosen({}), demands=DEMANDS._replace(principles=principles))
    assert f"at least {principles.aim} of the principles" in asked
    assert "nothing has to be found" in asked


@pytest.mark.parametrize("stage", [Stage.DRAFT, Stage.REVISE])
def test_a_plan_is_asked_for_from_the_simplest_step_on_with_what_each_depends_on(stage: Stage) -> None:
    asked = " ".join(instruction(stage, chosen({})).split())
    for demand in (
        "from least to most: the simplest and most independent first",
        "Each step names the steps that it depends on",
        "steps that can be done side by side say so",
        "an effort of S, M or L",
    ):
        assert demand in asked
