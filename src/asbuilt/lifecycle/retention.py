"""What may be thrown away, and why. Pure; the one rule: what is not provably safe to lose stays."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.landings import LandingDone, LandingUndone
from asbuilt.lifecycle.pull_request.facts import REPAIRS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.events.event import Entry

DAYS: Final = 30
"""How long what a landing has made superfluous is kept after it."""
OUTPUT_DAYS: Final = 1
"""An output is written before the event that names it; a day is far more than lies between the two."""


class Goes(NamedTuple):
    """It may go: the proof that nothing is lost with it."""

    why: str


class Stays(NamedTuple):
    """It stays, and why."""

    why: str


Fate = Goes | Stays


class Made(NamedTuple):
    """An attempt at a phase: its run, its number, and when it began."""

    run: str
    phase: str
    number: int
    began_at: str

    @property
    def id(self) -> str:
        """What its ref is called."""
        return f"{self.run}.{self.phase}.{self.number}"


def attempts_in(entries: Iterable[Entry]) -> list[Made]:
    """List the attempts at phases, each with its first start; repairs of a pull request are none."""
    found: dict[str, Made] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, AttemptBegun) and event.phase not in REPAIRS:
            made = Made(entry.run or "", event.phase, event.number, entry.at)
            found.setdefault(made.id, made)
    return [*found.values()]


def landings(entries: Iterable[Entry]) -> dict[str, str]:
    """Tell of each phase of a plan when the landing that stands happened."""
    landed: dict[str, tuple[str, str]] = {}
    for entry in entries:
        match entry.event:
            case LandingDone(commits=commits):
                landed |= {phase: (commit, entry.at) for phase, _, commit, _ in commits}
            case LandingUndone(commits=gone):
                landed = {phase: one for phase, one in landed.items() if one[0] not in gone}
            case _:
                pass
    return {phase: at for phase, (_, at) in landed.items()}


def of_attempt(phase: str, *, began_at: str, landed_at: str | None, now: str, days: int) -> Fate:
    """Judge the kept files of an attempt of a run that is over: its phase has to have landed since."""
    if landed_at is None:
        return Stays(f"phase {phase} has not landed")
    if began_at > landed_at:
        return Stays(f"phase {phase} landed before it began")
    return of_age(f"phase {phase} landed", landed_at, now=now, days=days)


def of_age(what: str, at: str, *, now: str, days: int) -> Fate:
    """Judge what is of use only for some days after something."""
    since = (datetime.fromisoformat(now) - datetime.fromisoformat(at)).days
    told = f"{what} {since} {'day' if since == 1 else 'days'} ago"
    return Goes(told) if since >= days else Stays(f"{told}; it goes after {days}")
