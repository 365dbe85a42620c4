"""Play many seeds. The one rule: whatever is found is told with the command that shows it again."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from typing import TYPE_CHECKING

from tests.simulator.simulation import simulator
from tests.simulator.story import story

if TYPE_CHECKING:
    from tests.simulator.simulation import Course

_SHOWN = 10


def main(arguments: list[str], *, cores: int = os.cpu_count() or 1) -> int:
    """Play SEEDS seeds from FIRST on; a single one prints its whole course."""
    seeds = int(arguments[0]) if arguments else 1_000
    first = int(arguments[1]) if len(arguments) > 1 else 0
    if seeds == 1:
        return _replay(first)
    began = time.monotonic()
    found = _on(cores, range(first, first + seeds))
    took_s = time.monotonic() - began
    for failure in found[:_SHOWN]:
        sys.stdout.write(f"{failure}\n")
    if len(found) > _SHOWN:
        sys.stdout.write(f"and {len(found) - _SHOWN} more\n")
    speed = f"{took_s:.0f} s on {cores} cores, {seeds / took_s:.0f} seeds/s"
    sys.stdout.write(f"{seeds} seeds, {len(found)} violations, {speed}\n")
    return 1 if found else 0


def failures(seeds: range) -> list[str]:
    """Play seeds in this process; tell each that breaks a law, and what replays it."""
    with simulator() as play:
        return [_told(course) for seed in seeds if (course := play.play(seed)).broken is not None]


def _on(cores: int, seeds: range) -> list[str]:
    if cores == 1:
        return failures(seeds)
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        return [one for part in pool.map(failures, [seeds[at::cores] for at in range(cores)]) for one in part]


def _told(course: Course) -> str:
    return f"seed {course.seed}: {course.broken}\n  replay: just simulate 1 {course.seed}"


def _replay(seed: int) -> int:
    with simulator() as play:
        course = play.play(seed)
        for line in (*course.trace, f"seed {seed}: {course.broken or 'lawful'}", *course.end):
            sys.stdout.write(f"{line}\n")
        if course.broken is None:
            return 0
        least = play.shrink(story(seed))
        sys.stdout.write(f"enough to break it: {[*least.faults]} {[*least.acts]}\n")
    return 1
