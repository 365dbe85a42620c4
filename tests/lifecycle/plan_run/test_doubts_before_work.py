"""A phase that admits to be stale, or whose numbers disagree, is doubted before anybody works on it."""

from __future__ import annotations

import pytest

from asbuilt.lifecycle.plan_run.doubts_before_work import Doubt, course_for, doubts_in
from asbuilt.plan.reader import read

PLAN = """\
# Retries

## Phase 1 — Core

### Design & Constraints

- `suite` = 52 - 4 + 9
- `lines` = 40 + 60

### Acceptance Criteria

- [ ] `suite`: exactly {suite} tests pass
- [ ] `lines`: ~{lines} lines

## Phase 2 — Panel

### Dependencies

Phase 1. Drafted before Phase 1 was built.
"""


def doubts(*phases: str, suite: int = 57, lines: int = 100) -> tuple[Doubt, ...]:
    plan = read(PLAN.format(suite=suite, lines=lines).encode())
    return doubts_in(plan, [phase for phase in plan.phases if phase.id in phases])


def test_only_phases_that_are_to_be_worked_on_are_doubted() -> None:
    assert doubts("1") == ()
    (stale,) = doubts("1", "2")
    assert (stale.phase, stale.line, stale.is_grave) == ("2", 19, False)


def test_a_number_is_told_with_what_the_plan_itself_derives_and_is_grave_when_it_is_far_off() -> None:
    assert doubts("1", suite=58, lines=90) == (
        Doubt("1", 12, "plan says 58, arithmetic says 57, drift 999 %", is_grave=True),
        Doubt("1", 13, "plan says 90, arithmetic says 100, drift 12 %"),
    )


NOTED, GRAVE = Doubt("1", 1, "old"), Doubt("1", 2, "off", is_grave=True)


@pytest.mark.parametrize(
    ("found", "attended", "unattended"),
    [((), "go", "go"), ((NOTED,), "ask", "tell"), ((NOTED, GRAVE), "ask", "refuse")],
)
def test_who_is_there_is_asked_and_where_nobody_is_only_a_grave_doubt_stops(
    found: tuple[Doubt, ...], attended: str, unattended: str
) -> None:
    told = [course_for(found, is_attended=is_attended) for is_attended in (True, False)]
    assert told == [attended, unattended]
