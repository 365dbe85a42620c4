"""What holds of every plan and every edit, whatever people wrote. Examples are in test_edit.py and cases/."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hypothesis import given

from asbuilt.errors import AsbuiltError, EditRefused, NotFound, UsageWrong
from asbuilt.plan.markdown.statuses import WRITABLE
from asbuilt.plan.model import Format, Status
from asbuilt.plan.plan_json import as_json
from asbuilt.plan.reader import read
from tests.plan.requests import (
    Complete,
    Correct,
    FillIn,
    MarkItem,
    MarkPhase,
    Request,
    bullet_of,
    item_of,
    perform,
    phase_of,
)
from tests.plan.strategies import PROSE, TICKED, Written, damaged, plans, requests

if TYPE_CHECKING:
    from asbuilt.plan.markdown.source import Edit, Span
    from asbuilt.plan.model import Phase, Plan

STATUSES = sorted(WRITABLE)


def performed(plan: Plan, request: Request) -> Edit | None:
    """Make the edit, or nothing where it is refused; when that may be, is a property of its own."""
    try:
        return perform(plan, request)
    except AsbuiltError:
        return None


def places(plan: Plan, request: Request) -> list[Span]:
    """List the spans that an edit may touch, by the model alone."""
    source = plan.source
    phase = phase_of(plan, request)
    if isinstance(request, Complete | FillIn):
        spans = [
            source.span(entry.first, entry.after)
            for entry in plan.front.entries
            if entry.key in {"status", "completed"}
        ]
        closing = source.starts[max(0, plan.front.after - 1)]
        spans.append(source.at(0, 0, 0)._replace(start=closing, end=closing))
        for datum in plan.metadata:
            line = source.span(datum.line, datum.after)
            spans += (
                [line] if datum.key.casefold() in {"status", "completed"} else [line._replace(start=line.end)]
            )
            end = source.starts[datum.after - 1] + len(source.lines[datum.after - 1])
            spans.append(line._replace(start=end, end=end))
        return spans
    assert phase is not None
    if isinstance(request, Correct):
        counted = [one for one in phase.criteria if any(char.isdigit() for char in one.text)]
        claim = counted[bullet_of(phase, request) - 1].claim
        assert claim is not None
        at = source.line_of(claim.stated.start)
        end = source.starts[at] + len(source.lines[at].rstrip())
        return [claim.stated, claim.stated._replace(start=end, end=end)]
    if isinstance(request, MarkItem):
        box = phase.work_items[item_of(phase, request) - 1].box
        assert box is not None
        return [box.span, box.tail]
    return _phase_places(plan, phase)


def _phase_places(plan: Plan, phase: Phase) -> list[Span]:
    spans = [span for box in phase.boxes for span in (box.span, box.tail)]
    spans += [spot.span for spot in (phase.spot, phase.line_spot) if spot is not None]
    if phase.row is not None:
        spans += [span for span in (phase.row.status, phase.row.commit, phase.row.note) if span is not None]
    elif phase.heading_after is not None:
        at = plan.source.starts[phase.heading_after]
        spans.append(phase.span._replace(start=at, end=at))
    return spans


@given(plans(), requests(STATUSES))
def test_an_edit_changes_only_its_own_bytes_and_they_lie_where_the_model_says(
    written: Written, request: Request
) -> None:
    plan = read(written.data)
    edit = performed(plan, request)
    if edit is None:
        return
    after, _ = edit.apply(written.data)
    kept_before, kept_after = bytearray(), bytearray()
    old_at = new_at = 0
    allowed = places(plan, request) if edit.splices else []
    source = plan.source
    ranges = [
        (source.bom + len(source.slice(span._replace(start=0, end=span.start))), len(source.slice(span)))
        for span in allowed
    ]
    for splice in edit.splices:
        untouched = splice.start - old_at
        kept_before += written.data[old_at : splice.start]
        kept_after += after[new_at : new_at + untouched]
        new_at += untouched
        assert written.data[splice.start : splice.start + len(splice.old)] == splice.old
        assert after[new_at : new_at + len(splice.new)] == splice.new
        old_at, new_at = splice.start + len(splice.old), new_at + len(splice.new)
        assert any(start <= splice.start and old_at <= start + length for start, length in ranges), (
            splice,
            ranges,
        )
    assert kept_before + written.data[old_at:] == kept_after + after[new_at:]


@given(plans(), requests(STATUSES))
def test_applying_an_edits_inverse_restores_the_file_exactly(written: Written, request: Request) -> None:
    edit = performed(read(written.data), request)
    if edit is not None:
        after, inverse = edit.apply(written.data)
        restored, again = inverse.apply(after)
        assert restored == written.data
        assert again == edit


def essence(plan: Plan) -> dict[str, Any]:
    """Describe all that a plan says, without places and what follows from the phases' standing."""
    told = as_json(plan, path="p.md", slug="p")
    for key in ("digest", "size", "problems", "next", "progress", "items", "current"):
        del told[key]
    for phase in told["phases"]:
        del phase["lines"]
        for bullet in (*phase["work_items"], *phase["criteria"]):
            del bullet["line"]
    return told


def as_asked(plan: Plan, request: Request, after: dict[str, Any]) -> dict[str, Any]:
    """Describe what the plan should say after the edit; only what the edit is free in is from `after`."""
    told = essence(plan)
    phase = phase_of(plan, request)
    if phase is None:
        if isinstance(request, Complete):
            told["status"] = "completed" if plan.format is Format.TASK else "complete"
        elif told["status"] is None:
            told["status"] = after["status"]
            assert after["status"] in {None, "TBD"}
        return told
    at = plan.phases.index(phase)
    mine, new = told["phases"][at], after["phases"][at]
    if isinstance(request, MarkPhase):
        _mark(phase, mine, new, request)
    elif isinstance(request, MarkItem):
        item = mine["work_items"][item_of(phase, request) - 1]
        item["done"] = request.done
        # A phase that is told by its boxes follows them.
        if phase.spot is None:
            mine["status"] = new["status"]
        mine["commit"] = new["commit"]
    elif isinstance(request, Correct):
        counted = [
            at for at, one in enumerate(mine["criteria"]) if any(char.isdigit() for char in one["text"])
        ]
        bullet = counted[bullet_of(phase, request) - 1]
        criterion, new_criterion = mine["criteria"][bullet], new["criteria"][bullet]
        assert str(request.actual) in new_criterion["text"] or criterion["claim"]["form"] == "range"
        criterion["text"], criterion["claim"] = new_criterion["text"], new_criterion["claim"]
        told["intent"], mine["intent"] = after["intent"], new["intent"]
    return told


def _mark(phase: Phase, mine: dict[str, Any], new: dict[str, Any], request: MarkPhase) -> None:
    mine["status"] = request.status.value
    told_by_boxes = phase.row is None and phase.spot is None and bool(phase.boxes)
    if request.status in {Status.DONE, Status.PENDING} and (request.items or told_by_boxes):
        changes = phase.status is not request.status or request.items or request.commit or request.note
        for item, bullet in zip(phase.work_items, mine["work_items"], strict=True):
            bullet["done"] = request.status is Status.DONE if item.box is not None and changes else item.done
    hashes = {None, phase.commit, request.commit}
    assert new["commit"] in hashes or request.status is not Status.DONE
    if request.commit and not (told_by_boxes and request.status in {Status.DONE, Status.PENDING}):
        assert new["commit"] == request.commit
    mine["commit"] = new["commit"]


@given(plans(), requests(STATUSES))
def test_reading_after_an_edit_differs_only_in_what_was_asked_for(written: Written, request: Request) -> None:
    plan = read(written.data)
    edit = performed(plan, request)
    if edit is not None:
        after = essence(read(edit.apply(written.data)[0]))
        assert after == as_asked(plan, request, after)


@given(plans(), requests(STATUSES))
def test_no_edit_but_a_correction_changes_what_is_wanted(written: Written, request: Request) -> None:
    plan = read(written.data)
    edit = performed(plan, request)
    if edit is not None and not isinstance(request, Correct):
        after = read(edit.apply(written.data)[0])
        assert after.intent == plan.intent
        assert [phase.intent for phase in after.phases] == [phase.intent for phase in plan.phases]


def refusal(plan: Plan, manner: str, request: Request) -> type[AsbuiltError] | None:
    """Say how an edit is refused because the format has no place for it; None means that it must succeed."""
    phase = phase_of(plan, request)
    if phase is None or isinstance(request, Complete | FillIn):
        return None
    if isinstance(request, MarkPhase):
        says_so = request.status is phase.status and not request.commit and not request.note
        unsaid = manner in TICKED and request.status not in {Status.DONE, Status.PENDING} and not says_so
        return EditRefused if manner in PROSE or unsaid else None
    if isinstance(request, Correct):
        counted = [one for one in phase.criteria if any(char.isdigit() for char in one.text)]
        return None if counted and counted[bullet_of(phase, request) - 1].claim is not None else EditRefused
    return _item_refusal(phase, request)


def _item_refusal(phase: Phase, request: MarkItem) -> type[AsbuiltError] | None:
    if request.commit and not request.done:
        return UsageWrong
    if not phase.work_items:
        return NotFound
    return EditRefused if phase.work_items[item_of(phase, request) - 1].box is None else None


def refused(plan: Plan, request: Request) -> type[AsbuiltError] | None:
    try:
        perform(plan, request)
    except AsbuiltError as error:
        return type(error)
    return None


@given(plans(), requests(STATUSES))
def test_a_well_formed_plan_takes_every_edit_that_its_format_has_a_place_for(
    written: Written, request: Request
) -> None:
    plan = read(written.data)
    assert plan.phases
    assert refused(plan, request) is refusal(plan, written.manner, request)


@given(damaged())
def test_reading_a_damaged_plan_never_raises_and_every_problem_has_a_line_of_the_file(data: bytes) -> None:
    plan = read(data)
    count = max(1, len(plan.source.lines))
    assert [problem for problem in plan.problems if not 1 <= problem.line <= count] == []
    assert [phase.lines for phase in plan.phases if not 1 <= phase.lines[0] <= phase.lines[1] <= count] == []


@given(damaged(), requests(STATUSES))
def test_an_edit_of_a_damaged_plan_is_refused_or_can_be_taken_back(data: bytes, request: Request) -> None:
    plan = read(data)
    edit = performed(plan, request)
    if edit is not None:
        after, inverse = edit.apply(data)
        assert inverse.apply(after)[0] == data
        assert isinstance(request, Correct) or read(after).intent == plan.intent


@given(plans())
def test_a_phases_text_is_its_lines_byte_for_byte(written: Written) -> None:
    plan = read(written.data)
    body = written.data.removeprefix(b"\xef\xbb\xbf")
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", body)
    for phase in plan.phases:
        first, last = phase.lines
        whole = b"".join(lines[first - 1 : last])
        # What is told in prose begins and ends with a sentence, not with a line.
        assert plan.verbatim(phase) == whole or (written.manner in PROSE and plan.verbatim(phase) in whole)
