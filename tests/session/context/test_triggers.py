"""Words that mean a plan, and words that mean only: go on."""

from __future__ import annotations

import pytest

from asbuilt.session.context.triggers import Trigger, is_own_request, trigger_in


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("execute plan", Trigger("load")),
        ("Now EXECUTE PLAN, all of it", Trigger("load")),
        ("!load-plan", Trigger("load")),
        ("!Load-Plan rate limit", Trigger("load", "rate limit")),
        ("  reload\n", Trigger("reload")),
        ("Reload.", Trigger("reload")),
        ("reload plan", Trigger("reload")),
        ("reload  the Plan!", Trigger("reload")),
        ("!plan-status", Trigger("status")),
        ("reload the page", None),
        ("why does it reload?", None),
        ("execute planning", None),
        ("please !load-plan", None),
        ("", None),
        ("\n", None),
    ],
)
def test_a_trigger_is_found_in_any_case_and_nowhere_else(prompt: str, wanted: Trigger | None) -> None:
    assert trigger_in(prompt) == wanted


def test_a_request_of_ones_own_is_more_than_go_on() -> None:
    assert [
        is_own_request(text) for text in ("go on", "Continue.", "", "yes!", "what is 2+2?", "fix it")
    ] == [
        False,
        False,
        False,
        False,
        True,
        True,
    ]
