"""Replace the text of a plan that is partly done. Completed phases keep the file's own bytes.

Rule: sections, rows and marks of completed phases never come from the new text. The result is read again and
refused if a completed phase would mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from asbuilt.errors import EditRefused
from asbuilt.plan.editing.edit import mark_item, mark_phase, the_phase
from asbuilt.plan.markdown.frontmatter import read_front_matter
from asbuilt.plan.markdown.source import Edit, Source, Span, Splicer, encode
from asbuilt.plan.markdown.statuses import WRITABLE
from asbuilt.plan.model import Metadatum, Phase, Plan, Status
from asbuilt.plan.plan_json import phase_json
from asbuilt.plan.reader import read

_LINE_END: Final = re.compile(r"\r\n?|\n")
_MARKS: Final = frozenset({"status", "completed"})


def refine(plan: Plan, proposed: bytes, done: Collection[str]) -> bytes:
    """Return the bytes of the refined plan: the new text, with completed phases as the file has them.

    `done` holds the ids of completed phases, by the journal and the plan's own marks. They may be missing
    from the new text. Front matter and line ends are the file's.
    """
    # A progress document may state a phase's status; the result must keep what this file states.
    before = read(plan.source.data)
    kept = sorted((phase for phase in before.phases if phase.id in done), key=lambda phase: phase.span)
    draft = read(_below_the_front(before, proposed))
    if not draft.phases:
        raise EditRefused(
            "the new text has no recognizable phase",
            why="A plan without phases has nothing to run or prove.",
            next_step="Give the whole plan with its phases; those that are done may be left out.",
        )
    splicer = Splicer(draft.source)
    _keep_sections(before, draft, kept, splicer)
    _keep_rows(before, draft, kept, splicer)
    _keep_metadata(before, draft, splicer)
    after = read(splicer.edit().apply(draft.source.data)[0])
    _check_claims(before, after)
    after = _with_marks(before, after)
    _check(before, after, kept)
    return after.source.data


def changed_phases(before: Plan, after: Plan) -> dict[str, str]:
    """Return the phases that a refinement adds, changes and drops: id to `new`, `changed` or `dropped`."""
    was = {phase.id: phase.intent for phase in before.phases}
    now = {phase.id: phase.intent for phase in after.phases}
    changes = {
        phase_id: "changed" if phase_id in was else "new"
        for phase_id, intent in now.items()
        if was.get(phase_id) != intent
    }
    return {**changes, **dict.fromkeys((phase_id for phase_id in was if phase_id not in now), "dropped")}


def _below_the_front(before: Plan, proposed: bytes) -> bytes:
    """Put the new text below the file's front matter, with the file's gap and line ends."""
    source, new = before.source, Source(proposed)
    head = source.text[: source.starts[before.front.after]] if before.front.present else ""
    front = read_front_matter(new)
    body = new.text[new.starts[front.after] :] if front.present else new.text
    if head and not front.present:
        rest = source.text[len(head) :]
        body = rest[: len(rest) - len(rest.lstrip("\r\n"))] + body.lstrip("\r\n")
    if head and head[-1] not in "\r\n":
        head += source.line_end
    if len(set(_LINE_END.findall(source.text))) == 1:
        body = _LINE_END.sub(lambda _: source.line_end, body)
    return source.data[: source.bom] + encode(head + body)


def _keep_sections(before: Plan, draft: Plan, kept: Iterable[Phase], splicer: Splicer) -> None:
    at: int | None = None
    """Offset in the new text after the previous completed phase."""
    for phase in kept:
        found = _found(draft, phase.id)
        if _is_row(phase):
            # The file has only a row for this phase, so a section in the new text is dropped.
            if found is not None and not _is_row(found):
                splicer.replace(found.span, "")
            continue
        old = before.source.text[phase.span.start : phase.span.end]
        if found is None or _is_row(found):
            at = _place_for(draft, phase) if at is None else at
            splicer.replace(Span(at, at), _apart(old, phase, before.source))
            continue
        at = found.span.end
        is_last = at == len(draft.source.text)
        splicer.replace(found.span, old if is_last else _apart(old, phase, before.source))


def _is_row(phase: Phase) -> bool:
    return phase.row is not None and phase.heading_after is None


def _found(draft: Plan, phase_id: str) -> Phase | None:
    found = [phase for phase in draft.phases if phase.id == phase_id]
    if len(found) > 1:
        lines = " and ".join(str(phase.lines[0]) for phase in found)
        raise EditRefused(
            f"phase {phase_id} is done, and the new text has it {len(found)} times, on lines {lines}",
            why="It is ambiguous which of them is the completed phase.",
            next_step="Give each phase a number of its own.",
        )
    return found[0] if found else None


def _place_for(draft: Plan, phase: Phase) -> int:
    """Return the offset for a completed phase that the new text left out: before all its phases."""
    starts = [plan_phase.span.start for plan_phase in draft.phases if not _is_row(plan_phase)]
    if not starts:
        raise EditRefused(
            f"phase {phase.id} is done, and the new text has no place for it",
            why="Its phases use a different format than the phases in the file.",
            next_step="Write the phases as the file does, with headings, rows or boxes.",
        )
    return min(starts)


def _apart(old: str, phase: Phase, source: Source) -> str:
    """Return a section with enough line ends to separate it from the text that follows."""
    return _ended(old, source, times=1 if phase.heading_after is None else 2)


def _ended(text: str, source: Source, *, times: int = 1) -> str:
    has = len(_LINE_END.findall(text[len(text.rstrip("\r\n")) :]))
    return text + source.line_end * max(0, times - has)


def _keep_rows(before: Plan, draft: Plan, kept: Iterable[Phase], splicer: Splicer) -> None:
    rows = {phase.id: phase.row.line - 1 for phase in draft.phases if phase.row is not None}
    at: int | None = None
    for phase in kept:
        if phase.row is None:
            continue
        old = _line(before, phase.row.line - 1)
        line = rows.get(phase.id)
        if line is not None:
            at = line + 1
            is_last = at == len(draft.source.lines)
            splicer.replace(draft.source.span(line, at), old if is_last else _ended(old, before.source))
            continue
        if not rows:
            raise EditRefused(
                "the new text has no progress tracker, and the file has one",
                why=f"The row of phase {phase.id}, which is done, would be lost.",
                next_step="Keep the table; its rows of completed phases are filled in.",
            )
        at = min(rows.values()) if at is None else at
        splicer.replace(draft.source.span(at, at), _ended(old, before.source))


def _keep_metadata(before: Plan, draft: Plan, splicer: Splicer) -> None:
    theirs = {datum.key.casefold(): datum for datum in draft.metadata}
    for datum in before.metadata:
        found = theirs.get(datum.key.casefold())
        if datum.key.casefold() in _MARKS and found is not None:
            place = draft.source.at(found.line, 0, len(draft.source.lines[found.line]))
            splicer.replace(place, before.source.lines[datum.line])


def _line(plan: Plan, line: int) -> str:
    span = plan.source.span(line, line + 1)
    return plan.source.text[span.start : span.end]


def _check(before: Plan, after: Plan, kept: Iterable[Phase]) -> None:
    """Raise `EditRefused` if a completed phase, or the plan's own status, reads differently."""
    for phase in kept:
        found = [plan_phase for plan_phase in after.phases if plan_phase.id == phase.id]
        if len(found) != 1 or _unchanging(before, phase) != _unchanging(
            after, found[0], like=before.verbatim(phase)
        ):
            raise EditRefused(
                f"phase {phase.id} is done, and beside the new text it would read another way",
                why="A completed phase keeps its text, marks, criteria and checks.",
                next_step="Look for a fence that does not close, a changed table or changed common commands.",
            )
    if (before.status, _marks(before.metadata)) != (after.status, _marks(after.metadata)):
        raise EditRefused(
            "the new text changes what the plan says of its own status",
            why="A refinement changes the requirements, not the status.",
            next_step="Leave the status as the file has it.",
        )


def _check_claims(before: Plan, after: Plan) -> None:
    """Raise `EditRefused` if the new text marks more as done than the file does."""
    for now in after.phases:
        was = next((phase for phase in before.phases if phase.id == now.id), None)
        is_new = now.status is Status.DONE and (was is None or was.status is not Status.DONE)
        if is_new or any(item.done and item.text not in _ticked(was) for item in now.work_items):
            raise EditRefused(
                f"the new text says that {'' if is_new else 'work of '}phase {now.id} is done",
                why="The file does not mark it as done, and no run has proven it.",
                next_step="Leave it open there; if it is true, `asbuilt plan mark` states it in the file.",
            )


def _ticked(phase: Phase | None) -> frozenset[str]:
    return frozenset(item.text for item in phase.work_items if item.done) if phase else frozenset()


def _with_marks(before: Plan, after: Plan) -> Plan:
    """Copy the file's marks to the phases of the new text: a refinement does not change progress."""
    for was in before.phases:
        now = next((phase for phase in after.phases if phase.id == was.id), None)
        if now is None:
            continue
        ticked = _ticked(was)
        for number, item in enumerate(now.work_items, 1):
            if item.box is not None and not item.done and item.text in ticked:
                after = _applied(after, mark_item(after, was.id, number, done=True))
        if was.spot is not None and was.status is not now.status and was.status in WRITABLE:
            after = _applied(after, _status_mark(before, after, was))
    return after


def _status_mark(before: Plan, after: Plan, was: Phase) -> Edit:
    """Write a phase's status in the file's words, if the new text has the same kind of place for it."""
    now = the_phase(after, was.id)
    if was.spot is None or now.spot is None or was.spot.kind != now.spot.kind:
        return mark_phase(after, was.id, was.status, commit=was.commit).edit
    splicer = Splicer(after.source)
    splicer.replace(now.spot.span, before.source.text[was.spot.span.start : was.spot.span.end])
    return splicer.edit()


def _applied(plan: Plan, edit: Edit) -> Plan:
    return read(edit.apply(plan.source.data)[0])


def _unchanging(plan: Plan, phase: Phase, *, like: bytes | None = None) -> dict[str, Any]:
    """Return everything that must stay of a completed phase: all but its lines and dependencies."""
    fields = phase_json(phase)
    del fields["lines"], fields["depends_on"]
    for bullet in (*fields["work_items"], *fields["criteria"]):
        del bullet["line"]
    fields["bytes"] = plan.verbatim(phase)
    if like is not None and not fields["bytes"].removeprefix(like).strip(b"\r\n"):
        fields["bytes"] = like
    row = phase.row
    fields["row"] = None if row is None else encode(plan.source.lines[row.line - 1])
    return fields


def _marks(metadata: Iterable[Metadatum]) -> dict[str, str]:
    return {datum.key: datum.value for datum in metadata if datum.key.casefold() in _MARKS}
