"""Words that mean a plan, and words that mean only: go on."""

from __future__ import annotations

import pytest

from asbuilt.session.context.plan_requests import PlanRequest, is_own_request, plan_request_in


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("execute plan", PlanRequest("load")),
        ("Now EXECUTE PLAN, all of it", PlanRequest("load")),
        ("!load-plan", PlanRequest("load")),
        ("!Load-Plan rate limit", PlanRequest("load", "rate limit")),
        ("  reload\n", PlanRequest("reload")),
        ("Reload.", PlanRequest("reload")),
        ("reload plan", PlanRequest("reload")),
        ("reload  the Plan!", PlanRequest("reload")),
        ("!plan-status", PlanRequest("status")),
        ("reload the page", None),
        ("why does it reload?", None),
        ("execute planning", None),
        ("please !load-plan", None),
        ("", None),
        ("\n", None),
    ],
)
def test_a_trigger_is_found_in_any_case_and_nowhere_else(prompt: str, wanted: PlanRequest | None) -> None:
    assert plan_request_in(prompt) == wanted


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
