"""A measured curve, what is accepted of it, and what is forecast from several. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple


class Point(NamedTuple):
    """One measurement: at how many, and each figure by its name."""

    at: int
    figures: dict[str, float]


class Curve(NamedTuple):
    """What something costs as something else grows."""

    letter: str
    title: str
    across: str
    """What grows."""
    points: list[Point]
    accepted: dict[str, float]
    """For each judged figure the most that the last point may be of the first; of a rate, that itself."""
    is_rate: bool = False
    """True: the figures are judged as they are, at the last point."""
    up_to: int = 10**9
    """Points beyond are shown and not judged."""

    def judged(self) -> list[tuple[str, float, float]]:
        """Return each judged figure: its name, what it came to, and what is accepted."""
        first = self.points[0].figures
        last = [point.figures for point in self.points if point.at <= self.up_to][-1]
        return [
            (name, last[name] if self.is_rate else last[name] / max(first[name], 1e-9), most)
            for name, most in self.accepted.items()
        ]


class Cell(NamedTuple):
    """The load of one cell of a fleet, a second: `plans`, `events`, `notices` happen, `agents` sleep."""

    plans: float = 0.23
    events: float = 46.0
    workers: int = 100
    agents: int = 5_000
    notices: float = 5.0
    listeners: int = 100


CORES: Final = 2.0
"""What a cell's Postgres may take at mean load."""
_NOTICE_S: Final = 20e-6


def forecast(cell: Cell, *, plan_s: float, event_s: float, idle_s: float, agent_s: float) -> float:
    """Forecast the cores that a cell's Postgres takes; doubled, because a line is never that straight."""
    spent = cell.plans * plan_s + cell.events * event_s + cell.workers * idle_s + cell.agents * agent_s
    return 2 * (spent + cell.notices * cell.listeners * _NOTICE_S)
