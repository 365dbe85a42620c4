"""Print what asbuilt costs as things grow, with a forecast; exit with 1 when a curve bends too much.

By processor time and transactions rather than by rates: two cores are full with two workers. `--slice` is
what CI has time for, judged with room for a busy machine; `--write` draws it into
docs/reference/performance.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from measures.chart import drawn  # noqa: E402 - the tests' folder is on the path only now
from measures.curve import CORES, Cell, Curve, forecast  # noqa: E402
from measures.journals import cost_of_a_plan, cost_of_an_event, views_on_sqlite  # noqa: E402
from measures.refs import many_refs  # noqa: E402
from measures.server import server  # noqa: E402
from measures.workers import more_workers, parked_runs, sleeping_agents  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from measures.server import Server

PAGE: Final = ROOT / "docs/reference/performance.md"
PICTURE: Final = ROOT / "docs/pictures/growth.svg"
BEGIN: Final = "<!-- growth: written by `just growth --write` -->\n"
END: Final = "<!-- growth: end -->\n"
_BY_CLOCK: Final = ("worker %",)


class Sizes(NamedTuple):
    """How far each curve goes, and how much more than accepted is let pass."""

    plans: tuple[int, ...]
    events: tuple[int, ...]
    workers: tuple[int, ...]
    agents: tuple[int, ...]
    parked: tuple[int, ...]
    refs: tuple[int, ...]
    rest_s: float = 20.0
    room: float = 1.0
    by_clock: bool = True
    """False: nothing is judged whose time may be another program's."""


WHOLE: Final = Sizes(
    plans=(100, 1_000, 10_000, 100_000, 1_000_000),
    events=(10_000, 100_000, 1_000_000),
    workers=(1, 2, 4, 8),
    agents=(0, 50, 500),
    parked=(0, 100, 1_000, 10_000),
    refs=(100, 1_000, 10_000, 100_000),
)
LONG: Final = WHOLE._replace(events=(*WHOLE.events, 10_000_000))
SLICE: Final = Sizes(
    plans=(100, 5_000),
    events=(),
    workers=(),
    agents=(0, 100),
    parked=(0, 2_000),
    refs=(100, 10_000),
    rest_s=6.0,
    room=2.0,
    by_clock=False,
)


def measured(sizes: Sizes, letters: str, postgres: Server) -> Iterator[Curve]:
    """Measure the curves that are named, one after the other."""
    to_measure: dict[str, Callable[[], tuple[Curve, ...]]] = {
        "A": lambda: cost_of_a_plan(postgres, sizes.plans, views=sizes.by_clock),
        "B": lambda: (views_on_sqlite(sizes.plans), cost_of_an_event(postgres, sizes.events)),
        "C": lambda: more_workers(postgres, sizes.workers),
        "D": lambda: (sleeping_agents(postgres, sizes.agents, rest_s=sizes.rest_s),),
        "E": lambda: (parked_runs(postgres, sizes.parked, rest_s=sizes.rest_s),),
        "F": lambda: (many_refs(sizes.refs),),
    }
    for letter, measure in to_measure.items():
        if letter in letters:
            start = time.monotonic()
            yield from measure()
            print(f"{letter} took {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def table(curve: Curve) -> list[str]:
    """Write a curve as a table: a row for each point, and what is accepted."""
    names = [f"{point.at:,}" for point in curve.points]
    judged = {name: f"{came:.2f} (≤ {most:g})" for name, came, most in curve.judged()}
    verdict = "" if not judged else "at the last | " if curve.is_rate else "last / first | "
    rows = [
        f"**{curve.letter}: {curve.title}**",
        "",
        f"| {curve.across}: | {' | '.join(names)} | {verdict}",
        "|---" * (len(names) + 1 + bool(judged)) + "|",
    ]
    for name in curve.points[0].figures:
        cells = [name, *(f"{point.figures[name]:.3g}" for point in curve.points)]
        cells += [judged.get(name, "")] if judged else []
        rows.append(f"| {' | '.join(cells)} |")
    return [*(row.rstrip() for row in rows), ""]


def told_forecast(curves: list[Curve]) -> tuple[list[str], bool]:
    """Forecast a cell of a fleet, from the curves that it takes; nothing when one is missing."""
    known = {(curve.letter, curve.title): curve for curve in curves}
    try:
        plan = known["A", "What a plan costs"].points[-1].figures["Postgres ms"] / 1e3
        event = known["B", "Events"].points[-1].figures["insert"] / 1e3
        sleeping = known["D", "Agents that sleep"].points
    except KeyError:
        return [], True
    idle = sleeping[0].figures["Postgres %"] / 100
    agent = max(0.0, sleeping[-1].figures["Postgres %"] / 100 - idle) / max(1, sleeping[-1].at)
    cell = Cell()
    cores = forecast(cell, plan_s=plan, event_s=event, idle_s=idle, agent_s=agent)
    said = (
        f"Forecast for a cell of {cell.workers} workers, {cell.agents:,} agents and 20,000 plans a day:"
        f" 2 × ({cell.plans} × {plan:.3f} + {cell.events:g} × {event:.5f} + {cell.workers} × {idle:.4f}"
        f" + {cell.agents} × {agent:.6f} + {cell.notices:g} × {cell.listeners} × 0.00002)"
        f" = **{cores:.2f} cores** of Postgres (≤ {CORES:g})."
    )
    return [said, ""], cores <= CORES


def machine() -> str:
    """Say on what it was measured."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    kernel = ".".join(platform.release().split(".")[:2])
    return (
        f"{os.cpu_count()} cores for clients and Postgres together, {platform.system()} {kernel},"
        f" Python {platform.python_version()}, commit `{commit}`."
    )


def main() -> None:
    """Measure, print, and judge."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description="what asbuilt costs as things grow")
    parser.add_argument("--slice", action="store_true", help="what CI has time for")
    parser.add_argument("--long", action="store_true", help="ten million events too")
    parser.add_argument("--only", default="ABCDEFG", help="letters of curves; G comes with C")
    parser.add_argument("--write", action="store_true", help="write it into docs/reference/performance.md")
    asked = parser.parse_args()
    sizes = SLICE if asked.slice else LONG if asked.long else WHOLE
    letters = "ADEF" if asked.slice else asked.only
    with server() as postgres:
        curves = list(measured(sizes, letters, postgres))
    lines = [line for curve in curves for line in table(curve)]
    said, is_small = told_forecast(curves)
    text = "\n".join([f"Measured on {machine()}", "", *lines, *said])
    print(text)
    bent = [
        f"bent: {curve.letter} {curve.title}: {name} came to {came:.2f}, accepted: {most * sizes.room:g}"
        for curve in curves
        for name, came, most in curve.judged()
        if came > most * sizes.room and (sizes.by_clock or name not in _BY_CLOCK)
    ]
    print(*bent, sep="\n")
    if asked.write:
        PICTURE.write_text(drawn(curves), encoding="utf-8")
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        page = f"{before}{BEGIN}\n{text.strip()}\n\n{END}{rest.partition(END)[2]}"
        PAGE.write_text(page, encoding="utf-8")
    sys.exit(bool(bent) or not is_small)


if __name__ == "__main__":
    main()
