"""Play many seeds on all cores: `python -m tests.simulator SEEDS [FROM]`; one seed prints its course."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time

from tests.simulator.simulation import Course, simulator
from tests.simulator.story import story


def main(arguments: list[str]) -> int:
    """Play seeds; the first that breaks a law is printed with what replays it."""
    seeds = int(arguments[0]) if arguments else 1_000
    first = int(arguments[1]) if len(arguments) > 1 else 0
    if seeds == 1:
        return _replay(first)
    began = time.monotonic()
    cores = os.cpu_count() or 1
    with multiprocessing.get_context("fork").Pool(cores) as pool:
        slices = [(first + at, seeds + first, cores) for at in range(cores)]
        found = [course for courses in pool.starmap(_play, slices) for course in courses]
    for course in sorted(found)[:10]:
        sys.stdout.write(f"seed {course.seed}: {course.broken}\n  replay: just simulate 1 {course.seed}\n")
    took = time.monotonic() - began
    sys.stdout.write(f"{seeds} seeds, {len(found)} unlawful, {took:.0f} s on {cores} cores\n")
    return 1 if found else 0


def _play(first: int, end: int, step: int) -> list[Course]:
    gc.disable()
    found = []
    with simulator() as play:
        for at, seed in enumerate(range(first, end, step)):
            course = play.play(seed)
            if course.broken is not None:
                found.append(course._replace(trace=[]))
            if at % 200 == 0:
                gc.collect()
    return found


def _replay(seed: int) -> int:
    with simulator() as play:
        course = play.play(seed)
        for line in course.trace:
            sys.stdout.write(line + "\n")
        sys.stdout.write(f"seed {seed}: {course.broken or 'lawful'}\n")
        if course.broken is None:
            sys.stdout.write("\n".join(course.end) + "\n")
            return 0
        least = play.shrink(story(seed))
        sys.stdout.write(f"enough to break it: {[*least.faults]} {[*least.acts]}\n")
    return 1
