from __future__ import annotations

from pathlib import Path

import pytest

from asbuilt.plan.contract import as_contract
from asbuilt.plan.names import slug_of_file
from asbuilt.plan.reader import read
from tests.plan.cases import FOLDER, Case, differences, load_all

CASES = load_all()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_plan_reads_as_its_case_file_says(case: Case) -> None:
    companion = None if case.companion is None else read(case.companion)
    plan = read(case.data, companion=companion, length=case.length)
    reading = as_contract(plan, path=case.path, slug=slug_of_file(Path(case.path).name))
    assert differences(case.expected, reading) == []


def test_there_are_at_least_sixty_case_files() -> None:
    assert len(list(FOLDER.glob("*.md"))) >= 60


def test_a_wrong_reading_is_told_with_its_place() -> None:
    expected = {"phases": [{"id": "1", "status": "done"}]}
    actual = {"phases": [{"id": "1", "status": "pending", "title": "x"}]}
    assert differences(expected, actual) == [".phases[0].status: expected 'done', read 'pending'"]
