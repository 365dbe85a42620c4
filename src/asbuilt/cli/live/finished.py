"""Permanent rows of a run's live view: proven phases with their evidence, and every failure in full.

No I/O. Rule: only what asbuilt's own checks have proven is green; an agent's words are quoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeVar

from asbuilt.cli.live.rows import Canvas, Piece, Row, Style, text_of
from asbuilt.cli.ui import columns
from asbuilt.cli.ui.clock import at, lasting, parsed
from asbuilt.cli.ui.words import counted
from asbuilt.cli.wording.events import event_line
from asbuilt.events.approvals import ApprovalAnswered
from asbuilt.events.attempts import AttemptBegun, AttemptEnded, ChecksDone, Judged, TogetherDone, VerdictGiven
from asbuilt.events.authoring import StageJudged
from asbuilt.events.event import Entry, Event, phase_of
from asbuilt.events.landings import LandingRecovered, LandingRefused, LandingRetried, LandingUnsigned
from asbuilt.events.phases import BaselineDone, PhaseBegun, PhaseJoined, PhaseMerged, PhaseProven, SetupDone
from asbuilt.events.plans import PlanDiffers
from asbuilt.events.runs import ClaimBroken, RunHastened, RunParked
from asbuilt.lifecycle.limits import FIX_LIMIT
from asbuilt.lifecycle.run.money import total, used_in
from asbuilt.proof.evidence import Evidence

_HASH: Final = 7
_TITLE: Final = 20
_LABEL: Final = 15
_FAILURES: Final = 3
_PASS: Final = "PASS"  # noqa: S105 - a verdict
_NOTES: Final[dict[type[Event], str]] = {
    ApprovalAnswered: "note", RunParked: "waits", LandingRefused: "failed", PlanDiffers: "note",
    LandingUnsigned: "note", LandingRecovered: "note", LandingRetried: "note", RunHastened: "note",
    ClaimBroken: "note",
}  # fmt: skip
"""Symbols of other events that get a permanent row."""
_STYLES: Final[dict[str, Style]] = {"failed": "red", "waits": "yellow"}
_Kind = TypeVar("_Kind", bound=Event)


class Source(StrEnum):
    """Who refutes an agent's claim; the value is its label."""

    CHECK = "asbuilt ran"
    CHANGE = "asbuilt sees"
    VERIFIER = "verifier says"
    ASBUILT = "asbuilt finds"


class Story:
    """The events of a run in order and their evidence, as shown to one user."""

    def __init__(self, person: str = "") -> None:
        self._person = person
        self._entries: list[Entry] = []
        self._shown: dict[str, Sequence[Evidence]] = {}

    def record(self, entry: Entry, shown: Sequence[Evidence] = ()) -> None:
        """Add an event, with the evidence of its checks."""
        self._entries.append(entry)
        self._shown[entry.key] = shown

    def mending(self, phase: str | None) -> tuple[str, ...]:
        """Return the failures of the last judged attempt of a phase."""
        events = (entry.event for entry in reversed(self._of(phase)))
        judged = (event for event in events if isinstance(event, ChecksDone | VerdictGiven))
        return next((tuple(map(str, event.failures)) for event in judged), ())

    def finished(self, titles: Mapping[str, str], canvas: Canvas) -> list[Row]:
        """Draw what the last event has finished; most events finish nothing."""
        entry = self._entries[-1]
        match event := entry.event:
            case PhaseProven():
                rows = [self._proven(entry.at, event, titles, canvas)]
            case ChecksDone() | VerdictGiven() if event.outcome != _PASS:
                rows = self._not_proven(event, titles, canvas)
            case SetupDone() | BaselineDone() if event.outcome != _PASS:
                rows = _note(entry, "failed", canvas)
            case AttemptEnded() if event.ending not in ("done", "limited"):
                rows = _note(entry, "failed", canvas)
            case StageJudged(outcome="accepted"):
                rows = [self._accepted(entry.at, event, titles, canvas)]
            case StageJudged(outcome="refused" | "gave_up") | PhaseJoined(state="failed"):
                rows = _note(entry, "failed", canvas)
            case TogetherDone():
                rows = [self._together(event, self._shown[entry.key], titles, canvas)]
            case ApprovalAnswered() if entry.actor == self._person:
                rows = []
            case PhaseBegun() if event.edited:
                rows = _note(entry, "note", canvas)
            case PhaseMerged() if event.conflicts:
                rows = _note(entry, "failed", canvas)
            case RunParked() if not event.until:
                rows = []
            case _ if type(event) in _NOTES:
                rows = _note(entry, _NOTES[type(event)], canvas)
            case _:
                rows = []
        return [canvas.fitted(row) for row in rows]

    def _of(self, phase: str | None) -> list[Entry]:
        return [entry for entry in self._entries if phase_of(entry.event) == phase]

    def _proven(self, proven_at: str, event: PhaseProven, titles: Mapping[str, str], canvas: Canvas) -> Row:
        entries = self._of(event.phase)
        took = _took(entries, PhaseBegun, proven_at)
        cost = total(dict(filter(None, (used_in(entry.event) for entry in entries))).values()).brief
        shown = self._checked(entries)
        ran, ran_briefly = _counts(shown), _counts(shown, is_brief=True)
        commit = f"  {canvas.safe(event.commit[:_HASH])}"
        right = f"{took:>6}" + (f"  {cost}" if cost else "")
        lead = (*_lead(event.phase, titles, canvas, canvas.symbols.proven, "green"), Piece("proven", "green"))
        room = canvas.width - columns.width(text_of(lead))
        asks = f", {counted(event.sign_offs, 'change')} to sign off" if event.sign_offs else ""
        whole = f"{asks}{commit}"
        for words in (f"{whole}  {ran}", f"{whole}  {ran_briefly}", whole, asks or commit):
            if len(words) + 1 + len(right) <= room:
                return (*lead, Piece(f"{words}{right:>{room - len(words)}}"))
        return (*lead, Piece(asks or commit))

    def _accepted(self, judged_at: str, event: StageJudged, titles: Mapping[str, str], canvas: Canvas) -> Row:
        took = _took(self._of(event.phase), AttemptBegun, judged_at)
        lead = (*_lead(event.phase, titles, canvas, canvas.symbols.proven, ""), Piece("accepted"))
        return (*lead, Piece(f"{took:>{max(1, canvas.width - columns.width(text_of(lead)))}}"))

    def _together(
        self, event: TogetherDone, shown: Sequence[Evidence], titles: Mapping[str, str], canvas: Canvas
    ) -> Row:
        _, column = _lead("", titles, canvas, "", "")
        name = Piece(f" {canvas.padded('all together', columns.width(column.text) - 2)} ")
        if event.outcome != _PASS:
            word = event.outcome.replace("_", " ")
            return Piece(canvas.symbols.failed, "red"), name, Piece(f"not proven: {word}")
        if not shown:
            return Piece(canvas.symbols.not_run), name, Piece("nothing to run")
        lead = Piece(canvas.symbols.proven, "green"), name
        return (*lead, Piece("proven", "green"), Piece(f"  {_counts(shown)}"))

    def _not_proven(
        self, event: ChecksDone | VerdictGiven, titles: Mapping[str, str], canvas: Canvas
    ) -> list[Row]:
        entries = self._of(event.phase)
        begun, ended = _last(entries, AttemptBegun), _last(entries, AttemptEnded)
        agent = begun.agent if begun and begun.agent else "agent"
        says = ended.says if ended else ""
        parts = [(f"{agent} says", f'"{says}"')] if says else []
        shown = self._checked(entries)
        parts += [(Source.CHECK, words) for words in _ran(shown)]
        # If every check passed, the change itself was refused.
        by_change = all(evidence.outcome == _PASS for evidence in shown)
        if isinstance(event, ChecksDone) and by_change:
            parts += [(Source.CHANGE, words) for words in event.failures]
        if isinstance(event, VerdictGiven):
            found = against_verdict(event) or [(Source.VERIFIER, "nothing")]
            parts += [(source.value, words) for source, words in found]
        parts.append(("so", _what_comes([entry.event for entry in entries])))
        lead = (*_lead(event.phase, titles, canvas, canvas.symbols.failed, "red"), Piece("NOT PROVEN", "red"))
        why = canvas.safe(f"{agent} says done, {_who_disagrees(event, by_change=by_change)}")
        head = [lead, (Piece(f"  {why}"),)] if canvas.is_narrow else [(*lead, Piece(f": {why}"))]
        return [*head, *(row for label, words in parts for row in _labelled(label, words, canvas))]

    def _checked(self, entries: Sequence[Entry]) -> Sequence[Evidence]:
        checked = (entry for entry in reversed(entries) if isinstance(entry.event, ChecksDone))
        return next((self._shown[entry.key] for entry in checked), ())


def against_verdict(event: Judged) -> list[tuple[Source, str]]:
    """Return what a verdict found unproven: who found it, and what."""
    found = ((Source.VERIFIER, event.said), (Source.ASBUILT, event.rejected))
    return [(source, "; ".join(map(str, failures))) for source, failures in found if failures]


def _last(entries: Sequence[Entry], kind: type[_Kind]) -> _Kind | None:
    return next((entry.event for entry in reversed(entries) if isinstance(entry.event, kind)), None)


def _took(entries: Sequence[Entry], begins: type[Event], ended_at: str) -> str:
    begun = next((entry.at for entry in entries if isinstance(entry.event, begins)), ended_at)
    return lasting((parsed(ended_at) - parsed(begun)).total_seconds())


def _who_disagrees(event: ChecksDone | VerdictGiven, *, by_change: bool) -> str:
    if isinstance(event, VerdictGiven):
        return "a verifier disagrees" if event.said or not event.rejected else "its verdict does not hold"
    outcome = event.outcome.replace("_", " ")
    if outcome == "FAIL" and by_change:
        return "rejected by asbuilt"
    return "a check disagrees" if outcome == "FAIL" else f"the checks are {outcome}"


def _lead(phase: str, titles: Mapping[str, str], canvas: Canvas, symbol: str, style: Style) -> Row:
    title = canvas.padded(canvas.safe(titles.get(phase, "")), 10 if canvas.is_narrow else _TITLE)
    return Piece(symbol, style), Piece(f" {canvas.named(phase, titles)}{title} ")


def _counts(shown: Sequence[Evidence], *, is_brief: bool = False) -> str:
    """Count checks and tests, and those among the tests that failed before the work as well."""
    checks = counted(len(shown), "check")
    ran = [evidence for evidence in shown if evidence.ran is not None]
    # A plan's check may repeat tests of a suite.
    tests = [evidence for evidence in ran if evidence.is_suite] or ran[-1:]
    if not tests:
        return checks
    every, failed = sum(test.ran or 0 for test in tests), sum(test.failed or 0 for test in tests)
    if not failed:
        return f"{checks}, {counted(every, 'test')}"
    before = "" if is_brief else f" ({failed} failed before)"
    return f"{checks}, {every - failed} of {counted(every, 'test')}{before}"


def _ran(shown: Sequence[Evidence]) -> list[str]:
    failed = [evidence for evidence in shown if evidence.outcome != _PASS]
    if shown and not failed:
        return [f"{counted(len(shown), 'check')}: PASS"]
    return [
        f"{evidence.name} on a clean checkout: {evidence.outcome.replace('_', ' ')}, {evidence.why}"
        for evidence in failed[:_FAILURES]
    ]


def _what_comes(events: Sequence[Event]) -> str:
    fixes = {event.number for event in events if isinstance(event, AttemptBegun) and event.role == "fix"}
    ended = (event for event in events if isinstance(event, AttemptEnded))
    lost = {attempt.number for attempt in ended if attempt.ending not in ("done", "limited")}
    cycle = len(fixes - lost) + 1
    if cycle > FIX_LIMIT:
        return "no fix cycle is left; the run ends, all work is kept"
    return f"sent back to the agent (fix {cycle} of {FIX_LIMIT})"


def _labelled(label: str, words: str, canvas: Canvas) -> list[Row]:
    if canvas.is_narrow:
        return canvas.wrapped(f"  {canvas.safe(label)}: ", canvas.safe(words), under=4)
    return canvas.wrapped(f"      {canvas.padded(canvas.safe(label), _LABEL)}", canvas.safe(words))


def _note(entry: Entry, symbol: str, canvas: Canvas) -> list[Row]:
    event, line = entry.event, event_line(entry)
    text = line.text if isinstance(event, LandingRecovered) else f"{line.word.lower()}: {line.text}"
    if isinstance(event, RunParked) and event.until:
        text = f"parked until {at(event.until, parsed(entry.at))}: {event.why}"
    lead = " " if line.phase == "-" else f" {canvas.named(line.phase)}"
    drawn = Piece(getattr(canvas.symbols, symbol), _STYLES.get(symbol, ""))
    first, *rest = canvas.wrapped(f" {lead}", canvas.safe(text), under=6)
    # The symbol replaces the first column; only the symbol is coloured.
    return [(drawn, first[0]._replace(text=first[0].text[1:]), *first[1:]), *rest]
