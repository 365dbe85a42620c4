"""Write outcomes into a plan: only what has landed, with the landed hashes, in the style of the file.

A place that is not certain, or that a user has removed meanwhile, is left alone: the journal knows what is
done, and a guess would not make the file more accurate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING

from asbuilt.errors import EditRefused, NotFound
from asbuilt.plan.editing.edit import complete, correct, mark_phase, reopen, waive
from asbuilt.plan.intent_digest import UNDECIDED
from asbuilt.plan.markdown.source import Edit
from asbuilt.plan.markdown.statuses import read_status
from asbuilt.plan.model import Format, Plan, Status
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.flows.run.drift import Correction
    from asbuilt.proof.verdict import Waived

_HASH = 10


def marked(
    data: bytes,
    landed: Mapping[str, str],
    *,
    completed: datetime | None = None,
    waived: Mapping[str, Sequence[Waived]] | None = None,
    corrected: Mapping[str, Sequence[Correction]] | None = None,
) -> bytes:
    """Mark phases and their boxes as done, with the landed commit and the waived items.

    Measured numbers are corrected. With `completed`, a plan that states its own status is marked as complete
    since then, unless it already states when it was completed.
    """
    for phase, commit in landed.items():
        for number in (corrected or {}).get(phase, ()):
            data = _edited(data, partial(_corrected, phase=phase, number=number))
        for waiver in (waived or {}).get(phase, ()):
            data = _edited(
                data, partial(waive, phase_id=phase, item=waiver.item, reason=waiver.reason, on=waiver.on)
            )
        data = _edited(data, partial(_marked, phase=phase, status=Status.DONE, commit=commit[:_HASH]))
    if completed is not None and _states_status(plan := read(data)) and not _has_completion(plan):
        data = _edited(data, partial(complete, at=completed))
    return data


def reopened(data: bytes, phases: Iterable[str]) -> bytes:
    """Mark phases as not done, and a completed plan as open again."""
    for phase in phases:
        data = _edited(data, partial(_marked, phase=phase, status=Status.PENDING))
    plan = read(data)
    if _states_status(plan) and read_status(plan.status or "") is Status.DONE:
        data = _edited(data, reopen)
    return data


def _marked(plan: Plan, phase: str, status: Status, commit: str | None = None) -> Edit:
    return mark_phase(plan, phase, status, commit=commit, items=True).edit


def _corrected(plan: Plan, phase: str, number: Correction) -> Edit:
    on = date.fromisoformat(number.on)
    return correct(plan, phase, number.bullet, number.actual, on, measured_of=number.text)


def _edited(data: bytes, edit: Callable[[Plan], Edit]) -> bytes:
    try:
        return edit(read(data)).apply(data)[0]
    except (EditRefused, NotFound):
        return data


def _states_status(plan: Plan) -> bool:
    """Return whether the file has a field for the plan's status."""
    if plan.front.present:
        return plan.front.entry("status") is not None
    return plan.format is Format.TASK and any(datum.key.casefold() == "status" for datum in plan.metadata)


def _has_completion(plan: Plan) -> bool:
    """Return whether the file states that the plan is complete, and since when."""
    if plan.front.present:
        status, since = plan.front.value("status"), plan.front.value("completed")
    else:
        stated = {datum.key.casefold(): datum.value for datum in plan.metadata}
        status, since = stated.get("status"), stated.get("completed")
    return read_status(status or "") is Status.DONE and (since or UNDECIDED) != UNDECIDED
