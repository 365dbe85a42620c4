"""Edit a plan by splicing bytes: mark, tick, complete, correct, fill in.

Rule: an edit that would change anything else raises `EditRefused`. Applying an edit returns its inverse.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple

from asbuilt.errors import EditRefused, NotFound, UsageWrong
from asbuilt.plan.editing import splices
from asbuilt.plan.intent_digest import UNDECIDED
from asbuilt.plan.lint import PLAN_METADATA, TASK_METADATA
from asbuilt.plan.markdown.source import Edit, Span, Splicer
from asbuilt.plan.markdown.statuses import WRITABLE, bracket_of
from asbuilt.plan.model import Format, Phase, Plan, Status
from asbuilt.plan.numeric_claims import bullets_of, corrected
from asbuilt.plan.plan_json import phase_json
from asbuilt.plan.reader import read

AUDIT: Final = "<!-- Auto-corrected "
"""Start of the comment that is appended to a corrected number."""
_WAIVED: Final = "<!-- Waived "
_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}")


class Marked(NamedTuple):
    """An edit, and the requested marks that the file has no place for."""

    edit: Edit
    left_out: tuple[str, ...]


def the_phase(plan: Plan, phase_id: str) -> Phase:
    """Return the phase with that id; raise if there is none or more than one."""
    wanted = phase_id.lower()
    found = [phase for phase in plan.phases if phase.id == wanted]
    if len(found) == 1:
        return found[0]
    ids = ", ".join(dict.fromkeys(phase.id for phase in plan.phases)) or "none"
    if found:
        lines = " and ".join(str(phase.lines[0]) for phase in found)
        raise EditRefused(
            f"phase {phase_id} occurs {len(found)} times, on lines {lines}",
            why="The number is ambiguous.",
            next_step="`asbuilt plan open PLAN` to give each phase a number of its own.",
        )
    parts = [phase.id for phase in plan.phases if phase.id.rstrip("abcdefghijklmnopqrstuvwxyz") == wanted]
    why = f"{' and '.join(parts)} are run and proven apart." if parts else "A phase is named by its number."
    raise NotFound(
        f"the plan has no phase {phase_id}; it has {ids}", why=why, next_step="`asbuilt plan show PLAN`"
    )


def mark_phase(
    plan: Plan,
    phase_id: str,
    status: Status,
    *,
    commit: str | None = None,
    note: str | None = None,
    items: bool = False,
) -> Marked:
    """Write a phase's status in the place and the style that the file already uses.

    A status that the file already states is not written again. `items` also ticks or unticks the phase's
    boxes.
    """
    phase = the_phase(plan, phase_id)
    if status not in WRITABLE:
        raise UsageWrong(
            f"a phase cannot be marked {status.value}",
            why="A plan cannot state an unknown status; asbuilt reports one if it cannot parse a mark.",
            next_step=f"`asbuilt plan mark PLAN {phase.id} pending`, or in_progress, done or blocked.",
        )
    mark = splices.Mark(status, _checked_commit(commit), " ".join(note.split()) or None if note else None)
    splicer = Splicer(plan.source)
    left_out: tuple[str, ...] = ()
    # A progress document may state the status in `plan`; here only this file counts.
    before = read(plan.source.data)
    says_so = the_phase(before, phase.id).status is status and not mark.tail
    if phase.row is not None:
        left_out = splices.mark_row(plan, splicer, phase.row, mark)
    elif phase.spot is not None:
        splices.mark_spot(plan, splicer, phase, phase.spot, mark)
    elif phase.boxes and (status in splices.TICKABLE or plan.format is Format.CHECKLIST):
        left_out = () if says_so else splices.mark_boxes(splicer, phase, mark)
    elif phase.heading_after is not None and plan.format is not Format.CHECKLIST:
        if not says_so:
            splices.insert_status(plan, splicer, phase.heading_after, mark)
    else:
        raise EditRefused(
            f"phase {phase.id} has no place for a status",
            why="It is written in prose, so the position of a mark is ambiguous.",
            next_step="`asbuilt plan open PLAN` to add a table with the columns Phase and Status.",
        )
    if items and status in splices.TICKABLE and (phase.row or phase.spot):
        splices.mark_boxes(splicer, phase, splices.Mark(status, None, None))
    return Marked(_checked(before, splicer, only=phase.id, status=status, is_own=True), left_out)


def mark_item(plan: Plan, phase_id: str, number: int, *, done: bool, commit: str | None = None) -> Edit:
    """Tick or untick one work item, counted from 1 within its phase."""
    phase = the_phase(plan, phase_id)
    commit = _checked_commit(commit)
    if commit and not done:
        raise UsageWrong(
            "an open box has no commit",
            why="The hash names the commit that completed the item.",
            next_step=f"`asbuilt plan mark PLAN {phase.id} pending --item {number}`, without the commit.",
        )
    if not 1 <= number <= len(phase.work_items):
        raise NotFound(
            f"phase {phase.id} has no item {number}; it has {len(phase.work_items)}",
            why="Items are counted from 1 within their phase.",
            next_step=f"`asbuilt plan show PLAN --phase {phase.id}`",
        )
    box = phase.work_items[number - 1].box
    if box is None:
        raise EditRefused(
            f"item {number} of phase {phase.id} has no box",
            why="It is a plain bullet; there is nothing to tick.",
            next_step="`asbuilt plan open PLAN` to write it as - [ ]",
        )
    splicer = Splicer(plan.source)
    splices.tick(splicer, box, done=done, commit=commit)
    return _checked(plan, splicer, only=phase.id)


def complete(plan: Plan, at: datetime) -> Edit:
    """Set the plan's status to complete and write the time, in one edit."""
    stamp = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    splicer = Splicer(plan.source)
    stated = next((datum for datum in plan.metadata if datum.key.casefold() == "status"), None)
    if plan.format is Format.TASK and stated is not None and not plan.front.present:
        splices.set_metadatum(plan, splicer, stated, bracket_of(Status.DONE))
        when = next((datum for datum in plan.metadata if datum.key.casefold() == "completed"), None)
        if when is not None:
            splices.set_metadatum(plan, splicer, when, stamp)
        else:
            splices.insert_metadata(plan, splicer, stated, {"Completed": stamp})
    else:
        splices.set_keys(plan, splicer, {"status": "complete", "completed": stamp})
    return _checked(plan, splicer)


def reopen(plan: Plan) -> Edit:
    """Mark a completed plan as active again.

    Sets `status` to active (to in progress in a task plan) and `completed` to TBD. Unlike the inverse of
    `complete`, it applies after later edits.
    """
    splicer = Splicer(plan.source)
    for datum in plan.metadata if not plan.front.present else ():
        if datum.key.casefold() == "status":
            splices.set_metadatum(plan, splicer, datum, bracket_of(Status.IN_PROGRESS))
        elif datum.key.casefold() == "completed":
            splices.set_metadatum(plan, splicer, datum, UNDECIDED)
    if plan.front.present:
        values = {"status": "active", "completed": UNDECIDED}
        splices.set_keys(
            plan, splicer, {key: value for key, value in values.items() if plan.front.entry(key)}
        )
    return _checked(plan, splicer)


def correct(
    plan: Plan, phase_id: str, bullet: int, actual: int, on: date, *, measured_of: str | None = None
) -> Edit:
    """Replace a stated number with the actual one, and append an audit comment.

    `bullet` counts the acceptance criteria that contain a digit, from 1. `measured_of` is the text of the
    criterion whose number was measured; if the bullet has another text, the edit is refused.
    """
    phase = the_phase(plan, phase_id)
    bullets = bullets_of(phase)
    meant = bullets[bullet - 1][1] if 1 <= bullet <= len(bullets) else None
    claim = meant.claim if meant is not None and measured_of in (None, meant.text) else None
    if claim is None or actual < 0:
        raise EditRefused(
            f"phase {phase.id} states no number in bullet {bullet} that could be corrected",
            why="Only a number in one of the known forms can be distinguished from the text around it.",
            next_step="`asbuilt plan open PLAN` to correct the bullet.",
        )
    source = plan.source
    line = source.line_of(claim.stated.start)
    text = source.lines[line]
    if AUDIT in text:
        raise EditRefused(
            f"bullet {bullet} of phase {phase.id} was corrected before",
            why="asbuilt corrects a number only once; a second correction needs your review.",
            next_step="Check what is measured, then: `asbuilt plan open PLAN`",
        )
    stated = source.text[claim.stated.start : claim.stated.end]
    end = source.starts[line] + len(text.rstrip())
    splicer = Splicer(source)
    splicer.replace(claim.stated, corrected(claim.form, actual))
    says = "arithmetic says" if measured_of is None else "measured"
    audit = f" {AUDIT}{on.isoformat()}: was {stated}, {says} {actual} -->"
    splicer.replace(Span(end, end), audit)
    return _checked(plan, splicer, only=phase.id, keeps_intent=False)


def waive(plan: Plan, *, phase_id: str, item: int, reason: str, on: str) -> Edit:
    """Note at an item that the user accepted it unmet; `item` counts work items, then criteria, from 1.

    An item that already has such a note is not changed.
    """
    phase = the_phase(plan, phase_id)
    lines = [*(work_item.line for work_item in phase.work_items), *(rule.line for rule in phase.criteria)]
    if not 1 <= item <= len(lines):
        raise NotFound(
            f"phase {phase.id} has no item {item}; it has {len(lines)}",
            why="Work items and criteria are counted from 1 within their phase.",
            next_step=f"`asbuilt plan show PLAN --phase {phase.id}`",
        )
    source, line = plan.source, lines[item - 1] - 1
    text = source.lines[line]
    splicer = Splicer(source)
    if _WAIVED not in text:
        end = source.starts[line] + len(text.rstrip())
        # Safe for the inside of an HTML comment, on one line.
        words = re.sub(r"-{2,}", "-", " ".join(reason.translate(str.maketrans("<>", "()")).split()))
        splicer.replace(Span(end, end), f" {_WAIVED}{on}: {words} -->")
    return _checked(plan, splicer)


def fill_in(plan: Plan) -> Edit:
    """Add missing metadata with the value TBD, which is not part of the intent and voids no approval."""
    splicer = Splicer(plan.source)
    if plan.format is Format.TASK:
        have = {datum.key.casefold() for datum in plan.metadata}
        missing = {key: UNDECIDED for key in TASK_METADATA if key.casefold() not in have}
        if missing:
            splices.insert_metadata(plan, splicer, plan.metadata[-1], missing)
    elif plan.front.is_ours:
        have = {entry.key for entry in plan.front.entries}
        splices.set_keys(plan, splicer, {key: UNDECIDED for key in PLAN_METADATA if key not in have})
    return _checked(plan, splicer)


def _checked_commit(commit: str | None) -> str | None:
    if commit is not None and not _COMMIT.fullmatch(commit):
        raise UsageWrong(
            f'"{commit}" is not a commit hash',
            why="A hash is 7 to 40 of the characters 0-9 and a-f; anything else could not be found again.",
            next_step="`git log --oneline` prints the hashes.",
        )
    return commit


def _checked(
    plan: Plan,
    splicer: Splicer,
    *,
    only: str | None = None,
    status: Status | None = None,
    keeps_intent: bool = True,
    is_own: bool = False,
) -> Edit:
    """Return the edit; read its result, and raise `EditRefused` if it changes more or less than intended.

    `plan` may carry statuses of a progress document unless it `is_own`; only its own file counts here.
    """
    edit, before = splicer.edit(), plan if is_own else read(plan.source.data)
    after = read(edit.apply(before.source.data)[0])
    same = (before.title, before.format, before.issues) == (after.title, after.format, after.issues)
    others = [_unchanging(phase, only, keeps_intent=keeps_intent) for phase in before.phases] == [
        _unchanging(phase, only, keeps_intent=keeps_intent) for phase in after.phases
    ]
    reached = status is None or any(phase.id == only and phase.status is status for phase in after.phases)
    if not (same and others and reached and (not keeps_intent or before.intent == after.intent)):
        raise EditRefused(
            "the edit would change more than the request",
            why="The plan's marks cannot be distinguished from its text with certainty.",
            next_step="`asbuilt plan check PLAN` may say what is unusual there; or edit it by hand.",
        )
    return edit


def _unchanging(phase: Phase, only: str | None, *, keeps_intent: bool) -> dict[str, Any]:
    """Return the fields of a phase that an edit must not change.

    Line numbers are left out; for the phase `only` its marks too, and without `keeps_intent` its criteria and
    intent.
    """
    fields = phase_json(phase)
    del fields["lines"]
    bullets = [*fields["work_items"], *fields["criteria"]]
    for bullet in bullets:
        del bullet["line"]
    if phase.id == only:
        del fields["status"], fields["commit"]
        for bullet in bullets:
            del bullet["done"]
        if not keeps_intent:
            del fields["intent"], fields["criteria"]
    return fields
