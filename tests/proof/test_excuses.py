from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.excuses import excuse_in, gaps_in


def test_phrases_that_call_something_done_are_found_over_lines_and_in_any_case() -> None:
    assert gaps_in("The cache is Noted as\n gap; the rest is FUTURE work.") == ("noted as gap", "future work")
    assert gaps_in("everything is built") == ()


@pytest.mark.parametrize(
    "why",
    [
        "noted as gap",
        "noted as a known gap",
        "This is a known gap",
        "It works; not a blocker for landing",
        "deferred to a later phase",
        "deferred",
        "Implemented, but error handling is deferred",
        "left a TODO",
        "a stub",
        "left as a stub",
        "The function is only a stub.",
        "stubbed out for now",
        "returns a constant for now",
        "This is not yet implemented",
        "partially implemented",
        "Future work: retries",
        "will be done in phase 3",
        "could not verify this",
        "I did not run the tests",
        "should work",
        "assumed to pass",
        "the rest is skipped",
        "No tests were added; deferred to phase 2",
        "no problem: the rest is postponed until later",
        "there is a placeholder for the login",
        "incomplete",
        "FIXME remains",
        "The handler still needs error handling",
        "not tested",
        "done, though a part of it is not implemented",
        "Implemented.\nDeferred.",
    ],
)
def test_words_that_take_a_pass_back_are_found(why: str) -> None:
    assert excuse_in(why)


@pytest.mark.parametrize(
    "why",
    [
        "",
        "no stubs are left",
        "there are no TODOs",
        "nothing was deferred",
        "it is not deferred",
        "without any stub",
        "not a stub but the real thing",
        "none of the items were deferred",
        "replaces the stub",
        "the stub is gone",
        "removed the TODO",
        "The TODO comment is removed",
        "no TODO or stub remains",
        "no longer a stub",
        "There are zero gaps left",
        "no gaps remain",
        "No blockers found",
        "stubs the HTTP client in the test",
        "adds a todo to the list",
        "uses a deferred promise",
        "invalid rows are skipped",
        "non-blocking IO is used",
        "raises when a field is still missing",
        "returns 404 if the item was not found",
        "the placeholder text is shown in the field",
        "tests cover the case that the job is not finished yet when asked",
    ],
)
def test_words_that_deny_a_gap_or_speak_of_the_product_are_no_excuse(why: str) -> None:
    assert excuse_in(why) is None


def test_the_words_of_the_item_itself_are_its_subject() -> None:
    why = "the import is deferred to the first use"
    assert excuse_in(why) == "is deferred"
    assert excuse_in(why, about="The import is deferred to the first use") is None


@given(st.text(max_size=2_000))
def test_any_words_are_read(why: str) -> None:
    excuse_in(why)
