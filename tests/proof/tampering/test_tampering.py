from __future__ import annotations

import pytest

from asbuilt.proof.tampering import tampering
from tests.proof.tampering.cases import Case, load_all, told

CASES = load_all()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_change_of_a_suite_is_told_as_its_case_file_says(case: Case) -> None:
    assert told(tampering(case.changes, case.order)) == case.expected
