"""Where the time of a run went, read from the times at which its events were written. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from asbuilt.lifecycle.worktime import WAITS_ON

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Doing = Literal["prepare", "work", "check", "judge", "wait", "land"]
_OF_THE_RUN: Final = ("prepare", "wait", "land")
_BEGINS: Final[Mapping[str, tuple[Doing, str]]] = {
    "run.started": ("prepare", "setup and baseline"),
    "attempt.begun": ("work", "attempt {number}, {role}"),
    "tree.kept": ("check", "checks of attempt {number}"),
    "verifier.begun": ("judge", "verifier of attempt {number}"),
    "together.judging": ("judge", "verifier of all phases together"),
    "landing.intended": ("land", "landing"),
    "pull.intended": ("land", "landing by pull request"),
    "run.parked": ("wait", "{why}"),
}
_ENDS: Final[Mapping[str, Doing]] = {
    "phase.begun": "prepare",
    "phase.rechecked": "prepare",
    "landing.intended": "prepare",
    "pull.intended": "prepare",
    "attempt.ended": "work",
    "attempt.lost": "work",
    "checks.done": "check",
    "verifier.ended": "judge",
    "verdict.given": "judge",
    "together.unjudged": "judge",
    "together.judged": "judge",
    "landing.done": "land",
    "landing.refused": "land",
}


class Span(NamedTuple):
    """Something that took time: in a phase, or in the run as a whole when `phase` is empty."""

    doing: Doing
    phase: str
    began: str
    ended: str
    what: str


def spans_of(events: Iterable[tuple[str, str, Mapping[str, object]]], now: str) -> tuple[Span, ...]:
    """Fold the events of one run, each with its time and kind; what is under way lasts until now."""
    found: list[Span] = []
    opened: dict[tuple[Doing, str], tuple[str, str]] = {}
    before = now
    for at, kind, data in events:
        phase = str(data.get("phase") or "")
        over: list[Doing] = [] if kind in WAITS_ON else ["wait"]
        over += [_ENDS[kind]] if kind in _ENDS else []
        for doing in over:
            place = _place(doing, phase)
            if place in opened:
                began, what = opened.pop(place)
                found.append(Span(*place, began, at, what))
        if kind == "phase.rechecked":
            found.append(Span("check", phase, before, at, "checks"))
        if kind in _BEGINS:
            doing, words = _BEGINS[kind]
            told = words.format(**{"number": "", "role": "", **data, "why": why_parked(data)})
            opened.setdefault(_place(doing, phase), (at, told))
        before = at
    found += [Span(*place, began, now, what) for place, (began, what) in opened.items()]
    return tuple(sorted(found, key=lambda one: (one.began, one.ended)))


def _place(doing: Doing, phase: str) -> tuple[Doing, str]:
    return doing, "" if doing in _OF_THE_RUN else phase


def why_parked(data: Mapping[str, object]) -> str:
    """Say what a run waits for; which question it is, is told among the decisions."""
    why = str(data.get("why", ""))
    return "for an answer" if why.startswith("approval ") else why
