"""How long a plan may be is a matter of what it wants. Examples are in cases/length-*.md."""

from __future__ import annotations

from hypothesis import given

from asbuilt.errors import AsbuiltError
from asbuilt.plan.lint import Length
from asbuilt.plan.markdown.statuses import WRITABLE
from asbuilt.plan.problems import Rule
from asbuilt.plan.reader import read
from tests.plan.requests import Correct, Request, perform
from tests.plan.strategies import Written, plans, requests

LINES = "\n".join(f"Line {number} says why." for number in range(60)).encode()


def long_by_lines(data: bytes, length: Length) -> list[str]:
    told = read(data, length=length).problems
    return [
        problem.message
        for problem in told
        if problem.rule is Rule.LONG_PLAN and "lines that" in problem.message
    ]


@given(plans(), requests(sorted(WRITABLE)))
def test_no_mark_makes_a_plan_longer(written: Written, request: Request) -> None:
    data = written.data + b"\n\n" + LINES
    plan = read(data)
    try:
        edit = perform(plan, request)
    except AsbuiltError:
        return
    if isinstance(request, Correct):
        return
    after, _ = edit.apply(data)
    assert long_by_lines(after, Length.CAP) == long_by_lines(data, Length.CAP) != []


def test_a_plan_that_nobody_has_set_a_length_for_may_have_any_number_of_lines() -> None:
    assert long_by_lines(b"# P\n\n" + LINES, Length.CONTROL) == []
