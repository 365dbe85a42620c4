"""What an ended run adds to a team's counters. Rule: they are deltas; no process keeps a total. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.events.event import Entry
from asbuilt.events.phases import PhaseBegun, PhaseProven
from asbuilt.events.runs import RunRequested, RunStarted

if TYPE_CHECKING:
    from asbuilt.lifecycle.status.traces import Traced


class Figure(NamedTuple):
    """A value of a metric."""

    name: str
    unit: str
    value: int | float
    about: Mapping[str, str | int | float] = {}


def counted(run: str, state: str, entries: Iterable[Entry], spans: Iterable[Traced]) -> list[Figure]:
    """Return what a run adds, from its events and from the spans of its trace."""
    own = [entry for entry in entries if entry.run == run]
    proven = {entry.event.phase for entry in own if isinstance(entry.event, PhaseProven)}
    begun = {entry.event.phase for entry in own if isinstance(entry.event, PhaseBegun)}
    phases = {"proven": len(proven), "not proven": len(begun - proven)}
    starts = [span.about for span in spans if "asbuilt.agent" in span.about]
    attempts = Counter(_of(about, "agent", "role", "ending") for about in starts)
    return [
        Figure("asbuilt.runs", "{run}", 1, {"asbuilt.state": state}),
        Figure("asbuilt.runs.waiting_time", "s", _waited_s(own)),
        *(
            Figure("asbuilt.phases", "{phase}", number, {"asbuilt.outcome": outcome})
            for outcome, number in phases.items()
            if number
        ),
        *(Figure("asbuilt.attempts", "{attempt}", number, dict(about)) for about, number in attempts.items()),
        *_summed("asbuilt.tokens", "{token}", starts),
        *_summed("asbuilt.cost_usd", "{USD}", starts),
    ]


def _of(about: Mapping[str, str | int | float], *names: str) -> tuple[tuple[str, str | int | float], ...]:
    return tuple((f"asbuilt.{name}", about.get(f"asbuilt.{name}", "lost")) for name in names)


def _summed(name: str, unit: str, starts: Iterable[Mapping[str, str | int | float]]) -> list[Figure]:
    """Sum what each agent has used in each role; a start that reported nothing adds nothing."""
    sums: dict[tuple[tuple[str, str | int | float], ...], int | float] = {}
    for about in starts:
        used = about.get(name)
        if isinstance(used, int | float):
            who = _of(about, "agent", "role")
            sums[who] = sums.get(who, 0) + used
    return [Figure(name, unit, value, dict(who)) for who, value in sums.items()]


def _waited_s(own: list[Entry]) -> float:
    asked = [entry.at for entry in own if isinstance(entry.event, RunRequested)]
    started = [entry.at for entry in own if isinstance(entry.event, RunStarted)]
    if not asked or not started:
        return 0.0
    return (datetime.fromisoformat(started[0]) - datetime.fromisoformat(asked[0])).total_seconds()
