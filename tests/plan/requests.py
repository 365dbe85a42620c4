"""Edits as values: what is asked for, apart from the plan it is asked of."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from asbuilt.plan.editing import edit

if TYPE_CHECKING:
    from asbuilt.plan.markdown.source import Edit
    from asbuilt.plan.model import Phase, Plan, Status

ON: Final = date(2026, 1, 12)
AT: Final = datetime(2026, 1, 12, 9, 3, tzinfo=UTC)


class MarkPhase(NamedTuple):
    """State a phase's status."""

    place: int
    status: Status
    commit: str | None
    note: str | None
    items: bool


class MarkItem(NamedTuple):
    """Tick or untick one item."""

    place: int
    item: int
    done: bool
    commit: str | None


class Correct(NamedTuple):
    """Put a measured number in the place of a stated one."""

    place: int
    bullet: int
    actual: int


class Complete(NamedTuple):
    """State that the plan is complete."""


class FillIn(NamedTuple):
    """Write missing metadata."""


Request = MarkPhase | MarkItem | Correct | Complete | FillIn


def phase_of(plan: Plan, request: Request) -> Phase | None:
    """Return the phase that is meant; None for an edit of the whole plan, or when there is no phase."""
    if isinstance(request, Complete | FillIn) or not plan.phases:
        return None
    return plan.phases[request.place % len(plan.phases)]


def item_of(phase: Phase, request: MarkItem) -> int:
    """Return the number, from 1, of the item that is meant."""
    return request.item % max(1, len(phase.work_items)) + 1


def bullet_of(phase: Phase, request: Correct) -> int:
    """Return the number, from 1, of the criterion that is meant, among those that hold a digit."""
    counted = [one for one in phase.criteria if any(char.isdigit() for char in one.text)]
    return request.bullet % max(1, len(counted)) + 1


def perform(plan: Plan, request: Request) -> Edit:
    """Make the edit; with no phase to edit, the one that is asked for is simply not there."""
    phase = phase_of(plan, request)
    name = "1" if phase is None else phase.id
    if isinstance(request, MarkPhase):
        return edit.mark_phase(
            plan, name, request.status, commit=request.commit, note=request.note, items=request.items
        ).edit
    if isinstance(request, MarkItem):
        number = 1 if phase is None else item_of(phase, request)
        return edit.mark_item(plan, name, number, done=request.done, commit=request.commit)
    if isinstance(request, Correct):
        return edit.correct(plan, name, 1 if phase is None else bullet_of(phase, request), request.actual, ON)
    if isinstance(request, Complete):
        return edit.complete(plan, AT)
    if isinstance(request, FillIn):
        return edit.fill_in(plan)
    assert_never(request)
