from __future__ import annotations

from collections import Counter

import pytest

from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.authoring.validators.stage_validators import judge
from tests.lifecycle.stages.cases import FOLDER, Case, load_all

CASES = load_all()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_output_is_judged_as_its_case_file_says(case: Case) -> None:
    assert judge(case.stage, case.output, case.setting) == case.flaws


def test_there_are_enough_cases_of_each_kind_and_stage() -> None:
    kinds = Counter(case.kind for case in CASES)
    assert (len(list(FOLDER.glob("*.md"))) >= 120, kinds["game"] >= 40, kinds["honest"] >= 20) == (True,) * 3
    assert {case.stage for case in CASES} == set(Stage)


def test_what_games_is_refused_and_what_is_honest_is_accepted() -> None:
    assert [case.name for case in CASES if case.kind == "game" and not case.flaws] == []
    assert [case.name for case in CASES if case.kind == "honest" and case.flaws] == []


def test_every_refusal_says_found_needed_and_an_example() -> None:
    flaws = [flaw for case in CASES for flaw in case.flaws]
    assert [flaw for flaw in flaws if not all(field.strip() for field in flaw)] == []
