"""What of a run is finished, in rows that stay: proven phases with their evidence, and every failure whole.

Reads nothing. The one rule: an agent says; asbuilt ran; only our check makes proven, and only that is green.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from asbuilt.cli.clock import at, lasting, parsed
from asbuilt.cli.live.rows import Piece, cells, text_of
from asbuilt.cli.telling import told
from asbuilt.cli.words import counted
from asbuilt.lifecycle.money import spent_in, total
from asbuilt.lifecycle.phases import FIX_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from asbuilt.cli.live.rows import Canvas, Row, Style
    from asbuilt.journal.events import Event
    from asbuilt.proof.evidence import Evidence

_HASH: Final = 7
_TITLE: Final = 20
_LABEL: Final = 15
_FAILURES: Final = 3
_PASS: Final = "PASS"  # noqa: S105 - a verdict
_NOTES: Final = {
    "approval.answered": "note", "run.parked": "waits", "landing.refused": "failed", "plan.differs": "note",
    "landing.unsigned": "note", "landing.recovered": "note", "run.hastened": "note", "claim.broken": "note",
}  # fmt: skip
"""Other news that stay, each with its symbol."""
_STYLES: Final[dict[str, Style]] = {"failed": "red", "waits": "yellow"}


class Story:
    """The events of one run in order, and the evidence they name, as one person is told of them."""

    def __init__(self, person: str = "") -> None:
        self._person = person
        self.events: list[Event] = []
        self._shown: dict[str, Sequence[Evidence]] = {}

    def hear(self, event: Event, shown: Sequence[Evidence] = ()) -> None:
        """Take one more event, with what its checks have shown."""
        self.events.append(event)
        self._shown[event.key] = shown

    def mending(self, phase: str | None) -> tuple[str, ...]:
        """Return what the last judged attempt of a phase failed by."""
        judged = [event for event in self._of(phase) if event.kind in ("checks.done", "verdict.given")]
        return tuple(judged[-1].data.get("failures", ())) if judged else ()

    def finished(self, titles: Mapping[str, str], canvas: Canvas) -> list[Row]:
        """Draw what the last event has brought to an end; most events bring nothing to an end."""
        event = self.events[-1]
        data = event.data
        match event.kind:
            case "phase.proven":
                rows = [self._proven(event, titles, canvas)]
            case "checks.done" | "verdict.given" if data["outcome"] != _PASS:
                rows = self._not_proven(event, titles, canvas)
            case "setup.done" | "baseline.done" if data["outcome"] != _PASS:
                rows = _note(event, "failed", canvas)
            case "attempt.ended" if data["ending"] not in ("done", "limited"):
                rows = _note(event, "failed", canvas)
            case "stage.judged" if data["outcome"] == "accepted":
                rows = [self._accepted(event, titles, canvas)]
            case "stage.judged" if data["outcome"] in ("refused", "gave_up"):
                rows = _note(event, "failed", canvas)
            case "together.done":
                rows = [self._together(event, canvas)]
            case "approval.answered" if event.actor == self._person:
                rows = []
            case kind if kind in _NOTES and (kind != "run.parked" or data.get("until")):
                rows = _note(event, _NOTES[kind], canvas)
            case _:
                rows = []
        return [canvas.fitted(row) for row in rows]

    def _of(self, phase: str | None) -> list[Event]:
        return [event for event in self.events if event.data.get("phase") == phase]

    def _proven(self, event: Event, titles: Mapping[str, str], canvas: Canvas) -> Row:
        events = self._of(event.data["phase"])
        begun = next((one.at for one in events if one.kind == "phase.begun"), event.at)
        took = lasting((parsed(event.at) - parsed(begun)).total_seconds())
        cost = total(
            {one.data["attempt"]: spent_in(one.data) for one in events if "attempt" in one.data}.values()
        ).brief
        ran = _counts(self._checked(events))
        commit = f"  {canvas.safe(event.data['commit'][:_HASH])}"
        right = f"{took:>6}" + (f"  {cost}" if cost else "")
        lead = (*_lead(event, titles, canvas, canvas.symbols.proven, "green"), Piece("proven", "green"))
        room = canvas.width - cells(text_of(lead))
        for words in (f"{commit}  {ran}", commit):
            if len(words) + 1 + len(right) <= room:
                return (*lead, Piece(f"{words}{right:>{room - len(words)}}"))
        return (*lead, Piece(commit))

    def _accepted(self, event: Event, titles: Mapping[str, str], canvas: Canvas) -> Row:
        begun = next(
            (one.at for one in self._of(event.data["phase"]) if one.kind == "attempt.begun"), event.at
        )
        took = lasting((parsed(event.at) - parsed(begun)).total_seconds())
        lead = (*_lead(event, titles, canvas, canvas.symbols.proven, ""), Piece("accepted"))
        return (*lead, Piece(f"{took:>{max(1, canvas.width - cells(text_of(lead)))}}"))

    def _together(self, event: Event, canvas: Canvas) -> Row:
        outcome = event.data["outcome"]
        if outcome != _PASS:
            word = outcome.replace("_", " ")
            return Piece(canvas.symbols.failed, "red"), Piece(f" all together   not proven: {word}")
        shown = self._shown[event.key]
        if not shown:
            return (Piece(f"{canvas.symbols.not_run} all together   nothing to run"),)
        lead = Piece(canvas.symbols.proven, "green"), Piece(" all together   ")
        return (*lead, Piece("proven", "green"), Piece(f"  {_counts(shown)}"))

    def _not_proven(self, event: Event, titles: Mapping[str, str], canvas: Canvas) -> list[Row]:
        """Draw a failure: who said what, what asbuilt ran, and what comes of it."""
        events = self._of(event.data["phase"])
        agent = str(_last(events, "attempt.begun").get("agent", "agent"))
        says = str(_last(events, "attempt.ended").get("says", ""))
        parts = [(f"{agent} says", f'"{says}"')] if says else []
        shown = self._checked(events)
        parts += [("asbuilt ran", words) for words in _ran(shown)]
        # What no check shows is in the change itself.
        by_change = all(one.outcome == _PASS for one in shown)
        if event.kind == "checks.done" and by_change:
            parts += [("asbuilt sees", words) for words in event.data.get("failures", ())]
        if event.kind == "verdict.given":
            parts.append(("verifier says", "; ".join(event.data.get("failures", ())) or "nothing"))
        parts.append(("so", _what_comes(events)))
        lead = (*_lead(event, titles, canvas, canvas.symbols.failed, "red"), Piece("NOT PROVEN", "red"))
        why = canvas.safe(f"{agent} says done, {_who_disagrees(event, by_change=by_change)}")
        head = [lead, (Piece(f"  {why}"),)] if canvas.is_narrow else [(*lead, Piece(f": {why}"))]
        return [*head, *(row for label, words in parts for row in _labelled(label, words, canvas))]

    def _checked(self, events: Sequence[Event]) -> Sequence[Evidence]:
        """Return what the last checks of these events have shown."""
        return next((self._shown[one.key] for one in reversed(events) if one.kind == "checks.done"), ())


def _last(events: Sequence[Event], kind: str) -> Mapping[str, Any]:
    return next((one.data for one in reversed(events) if one.kind == kind), {})


def _who_disagrees(event: Event, *, by_change: bool) -> str:
    if event.kind == "verdict.given":
        return "the verifier disagrees"
    outcome = event.data["outcome"].replace("_", " ")
    if outcome == "FAIL" and by_change:
        return "its change disagrees"
    return "a check disagrees" if outcome == "FAIL" else f"the checks are {outcome}"


def _lead(event: Event, titles: Mapping[str, str], canvas: Canvas, symbol: str, style: Style) -> Row:
    phase = str(event.data["phase"])
    title = canvas.padded(canvas.safe(titles.get(phase, "")), 10 if canvas.is_narrow else _TITLE)
    return Piece(symbol, style), Piece(f" {canvas.named(phase, titles)}{title} ")


def _counts(shown: Sequence[Evidence]) -> str:
    """Say what proved it: checks, and the tests among them."""
    tests = [one.ran for one in shown if one.ran is not None]
    checks = counted(len(shown), "check")
    return f"{checks}, {counted(tests[-1], 'test')}" if tests else checks


def _ran(shown: Sequence[Evidence]) -> list[str]:
    failed = [one for one in shown if one.outcome != _PASS]
    if shown and not failed:
        return [f"{counted(len(shown), 'check')}: PASS"]
    return [
        f"{one.name} on a clean checkout: {one.outcome.replace('_', ' ')}, {one.why}"
        for one in failed[:_FAILURES]
    ]


def _what_comes(events: Sequence[Event]) -> str:
    fixes = {
        one.data["number"] for one in events if one.kind == "attempt.begun" and one.data["role"] == "fix"
    }
    lost = {
        one.data["number"]
        for one in events
        if one.kind == "attempt.ended" and one.data["ending"] not in ("done", "limited")
    }
    cycle = len(fixes - lost) + 1
    if cycle > FIX_LIMIT:
        return "no cycle of fixing is left; the run ends, all work kept."
    return f"fix cycle {cycle} of {FIX_LIMIT} gets exactly this."


def _labelled(label: str, words: str, canvas: Canvas) -> list[Row]:
    if canvas.is_narrow:
        return canvas.wrapped(f"  {canvas.safe(label)}: ", canvas.safe(words), under=4)
    return canvas.wrapped(f"      {canvas.padded(canvas.safe(label), _LABEL)}", canvas.safe(words))


def _note(event: Event, symbol: str, canvas: Canvas) -> list[Row]:
    line = told(event)
    text = f"{line.word.lower()}: {line.text}"
    if event.kind == "run.parked":
        text = f"parked: {event.data['why']}, until {at(event.data['until'], parsed(event.at))}"
    lead = " " if line.phase == "-" else f" {canvas.named(line.phase)}"
    drawn = Piece(getattr(canvas.symbols, symbol), _STYLES.get(symbol, ""))
    first, *rest = canvas.wrapped(f" {lead}", canvas.safe(text), under=6)
    # The symbol takes the place of the first column: it alone carries the colour.
    return [(drawn, first[0]._replace(text=first[0].text[1:]), *first[1:]), *rest]
