"""The whole matrix: every point that there is, on as many cores as are given, and a row for each class."""

from __future__ import annotations

import random
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from tests.crash.attempts import ATTEMPTS
from tests.crash.attempts import KINDS as ATTEMPT_KINDS
from tests.crash.points import SYSCALLS, Outcome, Point
from tests.crash.world import Theatre

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS: Final = 200
BACKENDS: Final = ("sqlite", "postgres")
CLASSES: Final = ("step", "pair", *SYSCALLS, *ATTEMPT_KINDS)
_ROTATED: Final = ("four", "direct", "held", "undo", "question", "limit", "task")
_TASK: Final = "task"
_SOON: Final = 9
"""The second of a pair strikes within so many places of the worker that recovers."""
_BEYOND: Final = 3
"""System calls are counted anew each time; so many beyond those of the undisturbed run are tried too."""


def points_of(kind: str, theatre: Theatre, *, seed: int) -> list[Point]:
    """Find every point of a class, by an undisturbed run of each journey where they have to be counted."""
    if kind in ATTEMPT_KINDS:
        # A grace passes in its own time, whatever the attempt: a few of them say as much as all.
        names = ATTEMPTS[:4] if kind == "grace" else ATTEMPTS
        return [Point(kind, "four", backend, name) for name in names for backend in BACKENDS]
    if kind in SYSCALLS:
        calls = theatre.calls("one")[kind]
        return [Point(kind, "one", "sqlite", str(number)) for number in range(1, calls + 1 + _BEYOND)]
    places = {journey: theatre.places(journey) for journey in _ROTATED}
    if kind == "step":
        return _rotated(places)
    return [_pair(seed + number, _ROTATED[number % len(_ROTATED)], places) for number in range(PAIRS)]


def _pair(seed: int, journey: str, places: dict[str, list[str]]) -> Point:
    """Choose a pair: the first anywhere, the second soon after the start that recovers from it."""
    chance = random.Random(seed)  # noqa: S311 - a choice that can be made again
    first = chance.choice(places[journey])
    return Point("pair", journey, "sqlite", f"{first}+#{chance.randint(1, _SOON)}")


def _rotated(places: dict[str, list[str]]) -> list[Point]:
    """Give every step on both stores, each time in another of the journeys that have it.

    A later run of a journey is of a kind that no other has, and so is a task: each is struck at every step.
    """
    having: dict[tuple[str, str], list[str]] = defaultdict(list)
    for journey, names in places.items():
        for name in names:
            is_shared = journey != _TASK and name.startswith(("1.", "start"))
            having["" if is_shared else journey, name].append(journey)
    return [
        Point("step", journeys[(number + shift) % len(journeys)], backend, name)
        for number, ((_, name), journeys) in enumerate(having.items())
        for shift, backend in enumerate(BACKENDS)
    ]


def played(
    points: list[Point], *, cores: int, postgres: str, tell: Callable[[Outcome], None]
) -> list[Outcome]:
    """Play all points, as many at a time as there are cores; no two share a world."""
    free: SimpleQueue[Theatre] = SimpleQueue()

    def play(point: Point) -> Outcome:
        theatre = free.get()
        try:
            outcome = theatre.play(point)
        finally:
            free.put(theatre)
        tell(outcome)
        return outcome

    with ExitStack() as stack:
        for _ in range(cores):
            free.put(stack.enter_context(closing(Theatre(postgres))))
        with ThreadPoolExecutor(cores) as pool:
            return list(pool.map(play, points))
