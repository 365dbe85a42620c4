"""Retention: what may be deleted, and why. Rule: only data that is provably safe to lose. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.event import Entry
from asbuilt.events.landings import LandingDone, LandingUndone
from asbuilt.events.phases import PhaseMerged
from asbuilt.lifecycle.pull_request.facts import REPAIRS

ENGINE_DAYS: Final = 14
"""Days after which the engine's record of a finished segment is deleted. The journal has what it did."""
OUTPUT_DAYS: Final = 1
"""Minimum age of an output that no event names. The event follows its output within far less than a day."""


class Goes(NamedTuple):
    """May be deleted, with the proof that nothing is lost."""

    why: str


class Stays(NamedTuple):
    """Stays, with the reason."""

    why: str


Fate = Goes | Stays


class Made(NamedTuple):
    """An attempt at a phase: its run, its number, and its start."""

    run: str
    phase: str
    number: int
    began_at: str

    @property
    def id(self) -> str:
        """Name of its ref."""
        return f"{self.run}.{self.phase}.{self.number}"


def attempts_in(entries: Iterable[Entry]) -> list[Made]:
    """List the attempts at phases and their merges, each with its first start, without repairs of a pull."""
    found: dict[str, Made] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, AttemptBegun | PhaseMerged) and event.phase not in REPAIRS:
            made = Made(entry.run or "", event.phase, event.number, entry.at)
            found.setdefault(made.id, made)
    return [*found.values()]


def landings(entries: Iterable[Entry]) -> dict[str, str]:
    """Return for each phase the time of its last landing that was not undone."""
    landed: dict[str, tuple[str, str]] = {}
    for entry in entries:
        match entry.event:
            case LandingDone(commits=commits):
                landed |= {phase: (commit, entry.at) for phase, _, commit, _ in commits}
            case LandingUndone(commits=gone):
                landed = {phase: pair for phase, pair in landed.items() if pair[0] not in gone}
    return {phase: at for phase, (_, at) in landed.items()}


def of_attempt(phase: str, *, began_at: str, landed_at: str | None, now: str, days: int) -> Fate:
    """Judge the kept files of an attempt of a finished run: its phase must have landed since."""
    if landed_at is None:
        return Stays(f"phase {phase} has not landed")
    if began_at > landed_at:
        return Stays(f"phase {phase} landed before it began")
    return of_age(f"phase {phase} landed", landed_at, now=now, days=days)


def of_age(what: str, at: str, *, now: str, days: int) -> Fate:
    """Judge data that is kept for some days after an event."""
    since = (datetime.fromisoformat(now) - datetime.fromisoformat(at)).days
    age = f"{what} {since} {'day' if since == 1 else 'days'} ago"
    return Goes(age) if since >= days else Stays(f"{age}; deleted after {days} day{'s' * (days != 1)}")
