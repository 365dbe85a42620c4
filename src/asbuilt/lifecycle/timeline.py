"""Where the time of a run went, read from the times at which its events were written. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Doing = Literal["prepare", "work", "check", "judge", "wait", "land"]


class Span(NamedTuple):
    """Something that took time: in a phase, or in the run as a whole when `phase` is empty."""

    doing: Doing
    phase: str
    began: str
    ended: str
    what: str


class _Open(NamedTuple):
    doing: Doing
    phase: str
    began: str
    what: str


def spans_of(events: Iterable[tuple[str, str, Mapping[str, object]]], now: str) -> tuple[Span, ...]:
    """Fold the events of one run, each with its time and kind; what is under way lasts until now."""
    found: list[Span] = []
    opened: list[_Open] = []
    before = now
    for at, kind, data in events:
        phase, number = str(data.get("phase") or ""), data.get("number")

        def begin(doing: Doing, what: str, *, at: str = at, phase: str = phase) -> None:
            if not any(one[:2] == (doing, phase) for one in opened):
                opened.append(_Open(doing, phase, at, what))

        def end(doing: Doing, *, at: str = at, phase: str = phase) -> None:
            for one in [one for one in opened if one[:2] == (doing, phase)]:
                opened.remove(one)
                found.append(Span(*one[:3], at, one.what))

        if kind != "run.parked":
            end("wait", phase="")
        match kind:
            case "run.started":
                begin("prepare", "setup and baseline")
            case "phase.begun":
                end("prepare", phase="")
            case "attempt.begun":
                begin("work", f"attempt {number}, {data.get('role')}")
            case "attempt.ended" | "attempt.lost":
                end("work")
            case "tree.kept":
                begin("check", f"checks of attempt {number}")
            case "checks.done":
                end("check")
            case "verifier.begun":
                begin("judge", f"verifier of attempt {number}")
            case "verifier.ended" | "verdict.given":
                end("judge")
            case "together.judging":
                begin("judge", "verifier of all phases together")
            case "together.unjudged" | "together.judged":
                end("judge")
            case "phase.rechecked":
                end("prepare", phase="")
                found.append(Span("check", phase, before, at, "checks"))
            case "landing.intended":
                end("prepare", phase="")
                begin("land", "landing")
            case "landing.done" | "landing.refused":
                end("land")
            case "run.parked":
                begin("wait", str(data.get("why", "")), phase="")
            case _:
                pass
        before = at
    found += [Span(*one[:3], now, one.what) for one in opened]
    return tuple(sorted(found, key=lambda one: (one.began, one.ended)))
