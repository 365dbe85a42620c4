"""Where the time of a run went, from the times of its events. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from asbuilt.events import attempts
from asbuilt.events.event import Entry, Event, phase_of
from asbuilt.events.landings import LandingDone, LandingIntended, LandingRefused
from asbuilt.events.phases import PhaseBegun, PhaseMerged, PhaseRechecked
from asbuilt.events.pulls import PullIntended
from asbuilt.events.runs import RunParked, RunStarted, WaitReason
from asbuilt.lifecycle.run.working_time import WAITS_ON

Doing = Literal["prepare", "work", "check", "judge", "wait", "land"]
_OF_THE_RUN: Final = ("prepare", "land")
_ENDS: Final[tuple[tuple[Doing, tuple[type[Event], ...]], ...]] = (
    ("prepare", (PhaseBegun, PhaseRechecked, LandingIntended, PullIntended)),
    ("work", (attempts.AttemptEnded, attempts.AttemptLost)),
    ("check", (attempts.ChecksDone,)),
    (
        "judge",
        (attempts.VerifierEnded, attempts.VerdictGiven, attempts.TogetherUnjudged, attempts.TogetherJudged),
    ),
    ("land", (LandingDone, LandingRefused)),
)


class Span(NamedTuple):
    """A span of time in a phase, or in the run as a whole if `phase` is empty."""

    doing: Doing
    phase: str
    began: str
    ended: str
    what: str


def spans_of(entries: Iterable[Entry], now: str) -> tuple[Span, ...]:
    """Fold the events of one run; open spans end now."""
    found: list[Span] = []
    opened: dict[tuple[Doing, str], tuple[str, str]] = {}
    before = now
    for entry in entries:
        at, event = entry.at, entry.event
        phase = phase_of(event) or ""
        over: list[Doing] = [] if isinstance(event, WAITS_ON) else ["wait"]
        over += [doing for doing, kinds in _ENDS if isinstance(event, kinds)]
        # Any event ends a wait of the run, an event of a phase also its lane's.
        places = [_place(doing, phase) for doing in over]
        if "wait" in over:
            places.insert(1, ("wait", ""))
        for place in dict.fromkeys(places):
            if place in opened:
                began, what = opened.pop(place)
                found.append(Span(*place, began, at, what))
        if isinstance(event, PhaseRechecked):
            found.append(Span("check", phase, before, at, "checks"))
        begun = _begun(event)
        if begun is not None:
            doing, about = begun
            opened.setdefault(_place(doing, phase), (at, about))
        before = at
    found += [Span(*place, began, now, what) for place, (began, what) in opened.items()]
    return tuple(sorted(found, key=lambda span: (span.began, span.ended)))


def _place(doing: Doing, phase: str) -> tuple[Doing, str]:
    return doing, "" if doing in _OF_THE_RUN else phase


def why_parked(event: RunParked) -> str:
    """Return what a run waits for. The question itself is listed among the decisions."""
    return "for an answer" if event.reason is WaitReason.ANSWER else event.why


def _begun(event: Event) -> tuple[Doing, str] | None:
    match event:
        case RunStarted():
            return "prepare", "setup and baseline"
        case attempts.AttemptBegun():
            return "work", f"attempt {event.number}, {event.role}"
        case attempts.TreeKept():
            return "check", f"checks of attempt {event.number}"
        case PhaseMerged(conflicts=()):
            return "check", f"checks of the merge, attempt {event.number}"
        case attempts.VerifierBegun():
            who = "tester" if event.role == "test" else "verifier"
            return "judge", f"{who} of attempt {event.number}"
        case attempts.TogetherJudging():
            return "judge", "verifier of all phases together"
        case LandingIntended():
            return "land", "landing"
        case PullIntended():
            return "land", "landing by pull request"
        case RunParked() if event.reason is not WaitReason.LANES:
            return "wait", why_parked(event)
        case _:
            return None
