"""Print how fast asbuilt is, as ratios of things measured in the same run.

Milliseconds differ from machine to machine; a ratio to bare parsing, to a bare interpreter or to the bare
engine does not. What is compared is timed in turns and the least time counts, since a busy machine only ever
adds.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

from markdown_it import MarkdownIt

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from measures.dispatch import claude_is_here, dispatched  # noqa: E402 - the tests' folder is on the path now
from measures.hook import hook_cost  # noqa: E402
from measures.server import server  # noqa: E402
from measures.ten import compared  # noqa: E402
from measures.workers import connections, more_workers, parked_runs  # noqa: E402
from tests.cli.screens import a_night  # noqa: E402
from tests.plan.cases import load_all  # noqa: E402

from asbuilt.plan.markdown.source import MAX_BYTES  # noqa: E402
from asbuilt.plan.reader import read  # noqa: E402 - the tests' folder is on the path only now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from measures.server import Server

LINES: Final = 1_800
_WIDTH: Final = 78
_NUMBER: Final = re.compile(r"(Phase |\n\| )(\d+)(?=[ab]?[ .,])")


class Rounds(NamedTuple):
    """How often each thing is measured, and how large it is."""

    reads: int
    starts: int
    dispatches: int
    tens: int
    workers: tuple[int, ...]
    plans: int
    crew: int
    parked: int
    rest_s: float


FULL: Final = Rounds(15, 12, 7, 3, (1, 2, 4), 24, 8, 10_000, 30.0)
SMOKE: Final = Rounds(1, 1, 0, 1, (1,), 2, 2, 10, 2.0)
"""Every measurement once, as small as it can be: shows that each still runs, says nothing about speed."""


class Figure(NamedTuple):
    """One row of the table."""

    what: str
    ratio: float | None
    goal: float
    is_least: bool = False
    """True: the goal is the least that it may be."""

    @property
    def is_missed(self) -> bool:
        """Tell whether it is worse than its goal."""
        if self.ratio is None:
            return False
        return self.ratio < self.goal if self.is_least else self.ratio > self.goal


def plan_of(lines: int) -> str:
    """Write a plan of so many lines: the canonical one's phases again and again, each with its own number."""
    text = next(case.data for case in load_all() if case.name == "canonical-tracker").decode()
    head, rest = text.split("## Phase 1 ", 1)
    phases, tail = rest.split("## Risks", 1)
    parts: list[str] = []
    count = head.count("\n") + tail.count("\n")
    while count < lines:
        part = renumbered("## Phase 1 " + phases, 10 * len(parts))
        parts.append(part)
        count += part.count("\n")
    return head + "".join(parts) + "## Risks" + tail


def renumbered(text: str, by: int) -> str:
    """Add to every phase's number."""
    return _NUMBER.sub(lambda found: f"{found[1]}{int(found[2]) + by}", text)


def least(*actions: Callable[[], object], rounds: int) -> list[float]:
    """Time some actions in turns; return the least time of each."""
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for at, action in enumerate(actions):
            gc.collect()
            start = perf_counter()
            action()
            best[at] = min(best[at], perf_counter() - start)
    return best


def reading(rounds: int) -> list[Figure]:
    """Measure the reader against bare parsing, and against itself on a file of the largest size."""
    text = plan_of(LINES)
    data = text.encode()
    parser = MarkdownIt()
    bare, own = least(lambda: parser.parse(text), lambda: read(data), rounds=rounds)
    # Sections without phases, so that the limit on phases does not make the large file cheaper.
    section = "## Notes\n\nSome words about it, and `code`.\n\n- one thing\n- another thing\n\n"
    small = (section * (100_000 // len(section))).encode()
    large = (section * (MAX_BYTES // len(section))).encode()
    for_small, for_large = least(lambda: read(small), lambda: read(large), rounds=min(3, rounds))
    return [
        Figure(f"read {text.count(chr(10)):,} lines / MarkdownIt().parse", own / bare, 1.6),
        Figure("cost per byte, 2 MB / 100 KB", (for_large / len(large)) / (for_small / len(small)), 1.3),
    ]


# As it is once installed: a shell that forbids bytecode caches would compile every module at every start.
_ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def cpu_of(command: list[str], *, cwd: Path, state: Path) -> float | None:
    """Return the user and system seconds of one start, or None when it fails."""
    environment = _ENVIRONMENT | {"ASBUILT_HOME": str(state)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=False, env=environment, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starting(rounds: int) -> list[Figure]:
    """Measure commands against an interpreter that does nothing."""
    with tempfile.TemporaryDirectory() as folder, a_night() as night:
        plan = Path(folder) / "bench.md"
        plan.write_bytes(next(case.data for case in load_all() if case.name == "canonical-tracker"))
        asbuilt = [sys.executable, "-m", "asbuilt"]
        script = Path(sys.executable).with_name("asbuilt")
        if script.exists():
            asbuilt = [str(script)]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "asbuilt --version": [*asbuilt, "--version"],
            "asbuilt --help": [*asbuilt, "--help"],
            "asbuilt plan show FILE": [*asbuilt, "plan", "show", str(plan)],
            "asbuilt status": [*asbuilt, "status"],
            "asbuilt (five plans)": asbuilt,
        }
        best: dict[str, float | None] = {}
        for _ in range(rounds):
            for name, command in commands.items():
                seconds = cpu_of(command, cwd=night.shop, state=night.home.path)
                known = best.get(name)
                best[name] = seconds if known is None or seconds is None else min(known, seconds)
    bare = best.pop("python -c pass")
    goals = (2.0, 2.0, 15.0, 8.0, 8.0)
    return [
        Figure(f"CPU of {name} / python -c pass", seconds / bare if seconds and bare else None, goal)
        for (name, seconds), goal in zip(best.items(), goals, strict=True)
    ]


def gating() -> list[Figure]:
    """Measure the gate before a call of Bash against an interpreter, and a node hook, that do nothing."""
    cost = hook_cost()
    return [
        Figure("CPU of the gate, planning not held / python -I -S -c pass", cost.unheld_s / cost.bare_s, 2.2),
        Figure("CPU of the gate, planning held / python -I -S -c pass", cost.held_s / cost.bare_s, 2.2),
        Figure(
            "CPU of the gate, planning held / a node hook that only reads stdin (just agents)",
            cost.held_s / cost.node_s if cost.node_s else None,
            1.0,
        ),
    ]


def ten_phases(postgres: Server | None, rounds: int) -> Iterator[Figure]:
    """Measure a run of ten phases against the same process starts in as many steps of the bare engine."""
    name = "Postgres" if postgres else "SQLite"
    found = [compared(postgres) for _ in range(rounds)]
    what = f"ten phases / bare DBOS, {found[0].steps} steps, {found[0].starts} process starts, {name}"
    wall_s = min(one.ours.wall_s for one in found), min(one.bare.wall_s for one in found)
    cpu_s = min(one.ours.cpu_s for one in found), min(one.bare.cpu_s for one in found)
    yield Figure(f"wall of {what}", wall_s[0] / wall_s[1], 1.3)
    yield Figure(f"CPU of {what}", cpu_s[0] / cpu_s[1], 1.3)
    yield Figure(f"process starts of a phase, {name}", found[0].starts / 10, 40)


def working(postgres: Server, size: Rounds) -> Iterator[Figure]:
    """Measure workers that do nothing outside against the bare engine, and workers at rest."""
    _, cpu, rate = more_workers(postgres, size.workers, size.plans)
    for curve, goal in ((rate, 0.8), (cpu, 1.5)):
        for point in curve.points:
            for name, ratio in point.figures.items():
                yield Figure(f"{name} DBOS, workers: {point.at}", ratio, goal, is_least=curve is rate)
    parked = parked_runs(postgres, (0, size.parked), rest_s=size.rest_s)
    for name, ratio, goal in parked.judged():
        yield Figure(f"{name} with {size.parked:,} parked runs / none", ratio, goal)
    yield Figure(f"connections of {size.crew} workers", connections(postgres, size.crew), 6 * size.crew)
    yield Figure("MB of an idle worker", parked.points[0].figures["RSS MB"], 100)


def dispatching(rounds: int) -> Iterator[Figure]:
    """Measure how long claude's model waits for its first request, through an attempt and by hand."""
    found = [dispatched() for _ in range(rounds)] if claude_is_here() else []
    ratio = min(one.ours_s for one in found) / min(one.bare_s for one in found) if found else None
    yield Figure("dispatch to claude's first request / bare claude's own (just agents)", ratio, 1.3)


def main() -> None:
    """Print the table; exit with 1 when a goal is missed."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description="Print how fast asbuilt is, as ratios measured in one run.")
    parser.add_argument("--quick", action="store_true", help="only reading, starting and the gate")
    parser.add_argument("--smoke", action="store_true", help="every measurement once and small; no goals")
    given = parser.parse_args()
    size = SMOKE if given.smoke else FULL
    print(f"{'':{_WIDTH}}   ratio    goal")
    missed = 0
    for figure in measured(size, quick=given.quick):
        ratio = "   —   " if figure.ratio is None else f"{figure.ratio:7.2f}"
        sign, word = "≥" if figure.is_least else "≤", "  missed" if figure.is_missed else ""
        print(f"{figure.what:{_WIDTH}}  {ratio}  {sign} {figure.goal:4.1f}{word}", flush=True)
        missed += figure.is_missed
    sys.exit(missed > 0 and not given.smoke)


def measured(size: Rounds, *, quick: bool) -> Iterator[Figure]:
    """Measure one after the other; the longest come last."""
    yield from reading(size.reads)
    yield from starting(size.starts)
    yield from gating()
    if quick:
        return
    yield from dispatching(size.dispatches)
    yield from ten_phases(None, size.tens)
    with server() as postgres:
        if size is FULL:
            yield from ten_phases(postgres, size.tens)
        yield from working(postgres, size)


if __name__ == "__main__":
    main()
