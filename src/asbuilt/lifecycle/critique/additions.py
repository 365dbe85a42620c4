"""Add unsettled findings to a plan, as checks of its phases or as open questions.

Rule: every carried finding is in the plan afterwards, and the rest of the plan is unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.lifecycle.critique.anchors import Outline, outline_of
from asbuilt.plan.markdown.sections import part_of, sections_in

if TYPE_CHECKING:
    from asbuilt.lifecycle.critique.findings import Citation, Finding

_NOTHING: Final = frozenset({"none", "none.", "- none", "- none.", "-", "n/a", "tbd"})
_THIRD: Final = 3
_DEEPEST: Final = 6


class AddedCheck(NamedTuple):
    """A command that a phase must pass because of unsettled findings."""

    phase: str
    command: str
    findings: tuple[str, ...]


class Additions(NamedTuple):
    """Checks and questions to add to a plan for unresolved findings."""

    checks: tuple[AddedCheck, ...] = ()
    questions: tuple[str, ...] = ()


class _Room(NamedTuple):
    """Position for an insertion: the line before it (from 0) and the heading to write first."""

    after: int
    lead: tuple[str, ...] = ()
    replaces: int = 0
    """Number of lines to replace that say that there are no questions."""


def additions(standings: Iterable[Standing], plan: str, unjudged: Sequence[str] = ()) -> Additions:
    """Convert unsettled findings: a check if the phase accepts its command, else an open question."""
    carried = [standing for standing in standings if standing.is_carried]
    phases = outline_of(plan).titles
    checks: dict[tuple[str, str], list[str]] = {}
    for standing in carried:
        if standing.finding.check and standing.finding.anchor.phase in phases:
            checks.setdefault((standing.finding.anchor.phase, standing.finding.check), []).append(standing.id)
    taken = tuple(AddedCheck(*check, tuple(ids)) for check, ids in checks.items())
    if not _takes(plan, taken):
        taken = tuple(check for check in taken if _takes(plan, (check,)))
    held = {name for check in taken for name in check.findings}
    questions = [_question(standing, phases) for standing in carried if standing.id not in held]
    if unjudged:
        questions.append(f"Nobody but the author has judged {', '.join(unjudged)}: does the plan hold there?")
    return Additions(taken, tuple(questions))


def with_additions(plan: str, added: Additions) -> str:
    """Insert checks and questions into a plan's text, each in its section."""
    if not any(added):
        return plan
    whole = plan if plan.endswith(("\n", "\r")) else plan + outline_of(plan).plan.source.line_end
    outline = outline_of(whole)
    wanted: dict[str, list[str]] = {}
    for check in added.checks:
        if check.command not in _commands(plan, check.phase):
            wanted.setdefault(check.phase, []).append(f"`{check.command}`")
    rooms = [(_room_for_check(outline, phase), texts) for phase, texts in wanted.items()]
    if added.questions:
        rooms.append((_room_for_questions(outline), list(added.questions)))
    source = outline.plan.source
    text = source.text
    # Insert from the end, so that earlier positions stay valid; questions come last.
    rooms.sort(key=lambda pair: pair[0].after)
    for room, texts in reversed(rooms):
        start, end = source.starts[room.after + 1 - room.replaces], source.starts[room.after + 1]
        rows = (*room.lead, *(f"- {addition}" for addition in texts))
        text = text[:start] + "".join(f"{row}{source.line_end}" for row in rows) + text[end:]
    return "\N{ZERO WIDTH NO-BREAK SPACE}" * bool(source.bom) + text


def _takes(plan: str, checks: tuple[AddedCheck, ...]) -> bool:
    """Return whether the plan parser finds each added check in its phase, and all else unchanged."""
    written = with_additions(plan, Additions(checks))
    is_found = all(check.command in _commands(written, check.phase) for check in checks)
    return is_found and _promised(plan) == _promised(written)


def _room_for_check(outline: Outline, phase_id: str) -> _Room:
    """Find the end of a phase's verification; without one, start it at the end of the phase."""
    phase = next(plan_phase for plan_phase in outline.plan.phases if plan_phase.id == phase_id)
    first, after = phase.lines[0] - 1, phase.lines[1]
    headings = [section for section in outline.headings if first <= section.line < after]
    for at, heading in enumerate(headings):
        if heading.line > first and part_of(heading.text.partition(":")[0]) == "verify":
            end = next((section.line for section in headings[at + 1 :]), after)
            return _Room(_last(outline, heading.line, end))
    level = min(headings[0].level + 1 if headings else _THIRD, _DEEPEST)
    return _Room(_last(outline, first, after), ("", f"{'#' * level} Verification", ""))


def _room_for_questions(outline: Outline) -> _Room:
    """Find the end of the open questions, or of the plan; a line such as "None." is replaced."""
    for at, heading in enumerate(outline.headings):
        if "Open Questions" in sections_in(heading.text):
            end = next((section.line for section in outline.headings[at + 1 :]), len(outline.lines))
            last = _last(outline, heading.line, end)
            is_empty = outline.lines[last].strip().casefold() in _NOTHING
            return _Room(last, ("",) if last == heading.line else (), int(is_empty))
    return _Room(_last(outline, 0, len(outline.lines)), ("", "## Open Questions", ""))


def _last(outline: Outline, first: int, after: int) -> int:
    lines = outline.lines[first:after]
    return first + max((at for at, line in enumerate(lines) if line.strip()), default=0)


def _commands(plan: str, phase_id: str) -> set[str]:
    phases = outline_of(plan).plan.phases
    return {check.command for phase in phases if phase.id == phase_id for check in phase.checks}


def _promised(plan: str) -> list[tuple[str, list[str], list[str]]]:
    return [
        (phase.id, [item.text for item in phase.work_items], [criterion.text for criterion in phase.criteria])
        for phase in outline_of(plan).plan.phases
    ]


def _question(standing: Standing, phases: Collection[str]) -> str:
    finding, anchor = standing.finding, standing.finding.anchor
    where = anchor.file or (f"phase {anchor.phase}" if anchor.phase in phases else anchor.phase or "the plan")
    item = f", “{anchor.item}”" if anchor.item else ""
    others = "".join(f" Also: {wording}" for wording in standing.wordings if wording != finding.text)
    return " ".join(f"{standing.id} ({finding.principle}, {where}{item}): {finding.text}{others}".split())


class State(StrEnum):
    """State of a finding."""

    OPEN = "open"
    RESOLVED = "resolved"
    LATE = "late"
    """First raised in unchanged text by a later round: carried, but requires no further round."""


class Standing(NamedTuple):
    """A finding across all rounds."""

    id: str
    """`F3`, numbered in the order of discovery."""
    finding: Finding
    """At its highest level, with its position in the newest revision and all evidence."""
    wordings: tuple[str, ...]
    raised: tuple[int, ...]
    state: State
    by: tuple[Citation, ...] = ()

    @property
    def is_carried(self) -> bool:
        """Return whether the finding goes into the plan when no round is left."""
        return self.state in (State.OPEN, State.LATE) and self.finding.is_material
