from __future__ import annotations

from asbuilt.proof.gaps import gaps_in


def test_phrases_that_call_something_done_are_found_over_lines_and_in_any_case() -> None:
    assert gaps_in("The cache is Noted as\n gap; the rest is FUTURE work.") == ("noted as gap", "future work")
    assert gaps_in("everything is built") == ()
